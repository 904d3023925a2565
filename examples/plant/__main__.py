"""The plant: the platform, its sensors and motors, and the pipeline, with the numbers live.

make run
make run GUARANTEE=at_least_once
python -m examples.plant --seconds 60
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click
from examples.plant.results import ALERTS, AVERAGES, SHORT_RUNS, TOPICS, WITH_UNITS, ResultReader
from examples.plant.simulator import TOPIC, Simulator
from examples.plant.view import delay, make_view
from examples.stage import StoppedError, stage

if TYPE_CHECKING:
    from examples.stage import Stage

PIPELINE = Path(__file__).with_name("pipeline.py")
TOUR = Path(__file__).with_name("tour.json")
# Connectors and SQL share a process, which starts Spark when somebody uses them.
OPTIONS = ("--with", "connect,sql", "--property", f"console.tour.file={TOUR}")


@click.command()
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop by itself after so long.")
@click.option("--seed", type=int, help="Let the plant do what it did with this number before.")
@click.option(
    "--guarantee",
    type=click.Choice(["exactly_once", "at_least_once"]),
    default="exactly_once",
    show_default=True,
    help="at_least_once runs in real-time mode.",
)
def main(seconds: float | None, seed: int | None, guarantee: str) -> None:
    """Run a waste-to-energy plant through Headwater until Ctrl-C."""
    begun = time.monotonic()
    try:
        with stage("plant", *OPTIONS) as platform:
            _introduce(platform)
            plant = Simulator(platform.servers, platform.registry, seed)
            sys.exit(_run(platform, plant, begun, seconds, guarantee))
    except StoppedError:
        return


def _run(
    platform: Stage, plant: Simulator, begun: float, seconds: float | None, guarantee: str
) -> int:
    plant.prepare()
    platform.create_topics(*TOPICS)
    reader = ResultReader(platform.servers)
    first_s: float | None = None
    deadline = begun + (math.inf if seconds is None else seconds)
    try:
        chosen = {"PLANT_GUARANTEE": guarantee}
        with platform.program(PIPELINE, environment=chosen) as pipeline, make_view() as view:
            plant.start()
            while not platform.stop.is_set() and time.monotonic() < deadline:
                for line in pipeline.said():
                    view.pipeline(line)
                reader.poll(view.record)
                view.refresh(reader.results, plant.sent)
                if first_s is None and any(reader.results.counts.values()):
                    first_s = time.monotonic() - begun
                pipeline.check()
    finally:
        plant.stop()
        reader.close()
    _summarise(plant, reader, first_s)
    return 0 if plant.failed == 0 else 1


def _introduce(platform: Stage) -> None:
    servers, registry = platform.servers, platform.registry
    click.echo(f"console   {platform.console}   (open it in a browser: all that flows, and a tour)")
    click.echo(f"broker    {servers}   (Kafka's protocol)")
    click.echo(f"registry  {registry}   (Confluent's API)")
    click.echo("From another terminal, look at what flows:")
    click.echo(f"  headwater consume {TOPIC} --keys -b {servers} --value-format avro"
               f" --registry {registry}")  # fmt: skip
    for topic in (ALERTS, WITH_UNITS, AVERAGES, SHORT_RUNS):
        click.echo(f"  headwater consume {topic} --keys -b {servers}")
    click.echo("The first results come when Spark has started, in 10 to 20 s. Ctrl-C ends it.\n")
    sys.stdout.flush()


def _summarise(plant: Simulator, reader: ResultReader, first_s: float | None) -> None:
    results = reader.results
    click.echo("")
    if first_s is None:
        click.echo(f"{plant.sent} measurements sent; the pipeline had no time to answer.")
        return
    click.echo(
        f"{plant.sent} measurements sent. First result {first_s:.1f} s after the command, "
        f"in the end {delay(results)} from measurement to result."
    )
    click.echo(", ".join(f"{count} {topic}" for topic, count in results.counts.items()) + ".")


if __name__ == "__main__":
    main()
