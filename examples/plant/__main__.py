"""The plant: the platform, its sensors and motors, and the pipeline, with the numbers live.

make run
python -m examples.plant --seconds 60
"""

from __future__ import annotations

import math
import queue
import signal
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from confluent_kafka.admin import AdminClient, NewTopic
from examples.plant.results import ALERTS, AVERAGES, SHORT_RUNS, TOPICS, WITH_UNITS, ResultReader
from examples.plant.simulator import TOPIC, Simulator
from examples.plant.view import delay, make_view

from headwater.processes.child import ChildProcess
from headwater.processes.guard import Guard
from headwater.processes.ports import is_free
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PIPELINE = Path(__file__).with_name("pipeline.py")
_USUAL_PORTS = (9092, 8081, 9020)
_READY_WITHIN_S = 60.0
_STOPPED_WITHIN_S = 60.0


@click.command()
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop by itself after so long.")
@click.option("--seed", type=int, help="Let the plant do what it did with this number before.")
def main(seconds: float | None, seed: int | None) -> None:
    """Run a waste-to-energy plant through Headwater until Ctrl-C."""
    begun = time.monotonic()
    with (
        TemporaryFolder("plant") as data,
        _stop_requests() as stop,
        Guard(_STOPPED_WITHIN_S) as guard,
    ):
        printed: queue.SimpleQueue[str] = queue.SimpleQueue()
        with _headwater(guard, printed, _up(data / "platform")) as platform:
            servers, registry = _addresses(platform, printed, stop)
            if not stop.is_set():
                _introduce(servers, registry)
                plant = Simulator(servers, registry, seed)
                sys.exit(_run(guard, data, servers, registry, plant, stop, begun, seconds))


@contextmanager
def _headwater(
    guard: Guard,
    lines: queue.SimpleQueue[str],
    arguments: list[str],
    environment: Mapping[str, str] | None = None,
) -> Iterator[ChildProcess]:
    """Run `headwater ...`, and end it as Ctrl-C would."""

    def hand_over(read: list[str]) -> None:
        for line in read:
            lines.put(line)

    command = [sys.executable, "-m", "headwater", *arguments]
    child = ChildProcess(command, guard=guard, on_lines=hand_over, environment=environment)
    try:
        yield child
    finally:
        child.stop(signal.SIGINT, _STOPPED_WITHIN_S)


def _run(
    guard: Guard,
    data: Path,
    servers: str,
    registry: str,
    plant: Simulator,
    stop: threading.Event,
    begun: float,
    seconds: float | None,
) -> int:
    plant.prepare()
    _create_outputs(servers)
    environment = {"HEADWATER_BOOTSTRAP_SERVER": servers, "HEADWATER_REGISTRY": registry}
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    arguments = ["run", str(PIPELINE), "--checkpoint-dir", str(data / "checkpoints")]
    reader = ResultReader(servers)
    first_s: float | None = None
    deadline = begun + (math.inf if seconds is None else seconds)
    try:
        with (
            _headwater(guard, said, arguments, environment) as pipeline,
            make_view() as view,
        ):
            plant.start()
            while not stop.is_set() and time.monotonic() < deadline:
                while not said.empty():
                    view.pipeline(said.get())
                reader.poll(view.record)
                view.refresh(reader.results, plant.sent)
                if first_s is None and any(reader.results.counts.values()):
                    first_s = time.monotonic() - begun
                if not pipeline.running:
                    raise click.ClickException(f"the pipeline ended:\n{pipeline.last_lines}")
    finally:
        plant.stop()
        reader.close()
    _summarise(plant, reader, first_s)
    return 0 if plant.failed == 0 else 1


def _up(data: Path) -> list[str]:
    usual = all(is_free(port) for port in _USUAL_PORTS)
    return ["up", "--data", str(data), *([] if usual else ["--free-ports"])]


def _addresses(
    platform: ChildProcess, printed: queue.SimpleQueue[str], stop: threading.Event
) -> tuple[str, str]:
    """Wait for the table of what listens where."""
    found: dict[str, str] = {}
    deadline = time.monotonic() + _READY_WITHIN_S
    while not {"broker", "registry"} <= found.keys() and not stop.is_set():
        if not platform.running or time.monotonic() > deadline:
            raise click.ClickException(f"the platform did not start:\n{platform.last_lines}")
        try:
            parts = printed.get(timeout=0.1).split("\t")
        except queue.Empty:
            continue
        if len(parts) == 3:
            found[parts[0]] = parts[1]
    return found.get("broker", ""), found.get("registry", "")


def _create_outputs(servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    for done in admin.create_topics([NewTopic(topic, 1, 1) for topic in TOPICS]).values():
        done.result(30)


def _introduce(servers: str, registry: str) -> None:
    click.echo(f"broker    {servers}   (Kafka's protocol)")
    click.echo(f"registry  {registry}   (Confluent's API)")
    click.echo("From another terminal, look at what flows:")
    click.echo(f"  headwater consume {TOPIC} --keys -b {servers} --value-format avro"
               f" --registry {registry}")  # fmt: skip
    for topic in (ALERTS, WITH_UNITS, AVERAGES, SHORT_RUNS):
        click.echo(f"  headwater consume {topic} --keys -b {servers}")
    click.echo("The first results come when Spark has started, in some 20 s. Ctrl-C ends it.\n")
    sys.stdout.flush()


def _summarise(plant: Simulator, reader: ResultReader, first_s: float | None) -> None:
    results = reader.results
    click.echo("")
    if first_s is None:
        click.echo(f"{plant.sent} measurements sent; the pipeline had no time to answer.")
        return
    click.echo(
        f"{plant.sent} measurements sent. First result {first_s:.1f} s after the command, "
        f"then {delay(results)} from measurement to result (median)."
    )
    click.echo(", ".join(f"{count} {topic}" for topic, count in results.counts.items()) + ".")


@contextmanager
def _stop_requests() -> Iterator[threading.Event]:
    """Turn Ctrl-C and SIGTERM into an event, so that everything ends in its order."""
    stop = threading.Event()
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, lambda *_: stop.set()) for number in signals]
    try:
        yield stop
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)


if __name__ == "__main__":
    main()
