"""`headwater perf`: throughput and latency of any cluster, measured from this machine."""

from __future__ import annotations

import math
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.commands.produce import COMPRESSIONS
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.connection import connection_options
from headwater.cli.options.values import property_option
from headwater.cli.output import json_option, note, print_json
from headwater.cli.perf.workers import Outcome, run_workers
from headwater.cli.perf.workloads import (
    ConsumeJob,
    ProduceJob,
    consume_in_bulk,
    produce_in_bulk,
    time_round_trips,
)
from headwater.clients.start_position import StartPosition

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from headwater.clients.connection import Connection

_MEBIBYTE = 1024 * 1024
_PERCENTILES = (50, 95, 99, 99.9)
_LINE_EVERY_S = 5.0


@click.group(cls=LazyGroup)
def perf() -> None:
    """Measure throughput and latency, as Kafka's perf tools do.

    The load comes from Python through librdkafka. A call per record is what limits Python, so
    records are handed over in chunks; where one process is still the limit, --processes takes
    several.
    """


def load_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what is sent."""
    for option in (
        click.option("-s", "--record-size", type=click.IntRange(1), default=100, show_default=True),
        click.option("--throughput", type=float, help="Records per second; default: no limit."),
        click.option("-z", "--compression", type=click.Choice(COMPRESSIONS), default="none"),
        click.option(
            "--acks", type=click.Choice(["0", "1", "all"]), default="all", show_default=True
        ),
    ):
        command = option(command)
    return command


@perf.command(
    epilog="""\b
Examples:
  headwater perf produce load --num-records 1000000
  headwater perf produce load --record-size 1000 --compression lz4 --acks 1
  headwater perf produce load --throughput 10000 --num-records 100000
  headwater perf produce load --processes 2 --property linger.ms=20"""
)
@click.argument("topic")
@click.option("-n", "--num-records", type=click.IntRange(1), default=1_000_000, show_default=True)
@click.option("--processes", type=click.IntRange(1), default=1, help="How many share the work.")
@load_options
@property_option
@json_option
@connection_options
def produce(
    connection: Connection,
    topic: str,
    num_records: int,
    record_size: int,
    throughput: float | None,
    compression: str,
    acks: str,
    processes: int,
    properties: dict[str, str],
    as_json: bool,
) -> None:
    """Send records of random letters and time them.

    Latency is from handing a record over until it was acknowledged, taken of some records only.
    """
    connection.describe_topic(topic)
    settings = {"acks": acks, "compression.type": compression, **properties}
    rate = throughput / processes if throughput else None
    jobs = [
        ProduceJob(connection.access, topic, share, record_size, rate, settings)
        for share in _shares(num_records, processes)
    ]
    with _progress(num_records, "sent") as report:
        outcome = run_workers(produce_in_bulk, jobs, report)
    _print_outcome("sent", outcome, as_json, sampled=True)


@perf.command(
    epilog="""\b
Examples:
  headwater perf consume load
  headwater perf consume load --num-records 1000000
  headwater perf consume load --processes 2"""
)
@click.argument("topic")
@click.option("-n", "--num-records", type=click.IntRange(1), help="Default: all there are.")
@click.option("--processes", type=click.IntRange(1), default=1, help="They share the partitions.")
@property_option
@json_option
@connection_options
def consume(
    connection: Connection,
    topic: str,
    num_records: int | None,
    processes: int,
    properties: dict[str, str],
    as_json: bool,
) -> None:
    """Read a topic from its beginning to its end and time it."""
    starts = _starts(connection, topic, StartPosition("earliest"))
    if processes > len(starts):
        note(f"{topic} has {len(starts)} partition(s), which is as many processes as can read it.")
        processes = len(starts)
    settings: dict[str, Any] = dict(properties)
    shares = _shares(num_records, processes) if num_records else [None] * processes
    jobs = [
        ConsumeJob(
            connection.access,
            topic,
            {partition: starts[partition] for partition in sorted(starts)[number::processes]},
            share,
            settings,
        )
        for number, share in enumerate(shares)
    ]
    with _progress(num_records, "read") as report:
        outcome = run_workers(consume_in_bulk, jobs, report)
    _print_outcome("read", outcome, as_json)


@perf.command(
    epilog="""\b
Examples:
  headwater perf latency ping
  headwater perf latency ping --num-records 10000 --record-size 1000
  headwater perf latency ping --throughput 100 --acks 1"""
)
@click.argument("topic")
@click.option("-n", "--num-records", type=click.IntRange(1), default=10_000, show_default=True)
@load_options
@property_option
@json_option
@connection_options
def latency(
    connection: Connection,
    topic: str,
    num_records: int,
    record_size: int,
    throughput: float | None,
    compression: str,
    acks: str,
    properties: dict[str, str],
    as_json: bool,
) -> None:
    """Send one record at a time and wait until a consumer has it: end-to-end latency.

    Nobody else may produce to TOPIC meanwhile.
    """
    starts = _starts(connection, topic, StartPosition("latest"))
    settings = {"acks": acks, "compression.type": compression, **properties}
    job = ProduceJob(connection.access, topic, num_records, record_size, throughput, settings)
    with _progress(num_records, "round trips") as report:
        outcome = time_round_trips(job, starts, report)
    _print_outcome("sent and received", outcome, as_json)


def _starts(connection: Connection, topic: str, position: StartPosition) -> dict[int, int]:
    partitions = [partition.id for partition in connection.describe_topic(topic).partitions]
    spans = position.resolve(connection, topic, partitions)
    return {partition: span.start for partition, span in spans.items()}


def _shares(records: int, processes: int) -> list[int]:
    share, rest = divmod(records, processes)
    return [share + (number < rest) for number in range(processes)]


def _print_outcome(what: str, outcome: Outcome, as_json: bool, *, sampled: bool = False) -> None:
    seconds = max(outcome.ended - outcome.started, 1e-9)
    rate = outcome.records / seconds
    mebibytes = outcome.size / _MEBIBYTE / seconds
    latencies = sorted(outcome.latencies_ms)
    percentiles = {
        f"{each:g}th": _percentile(latencies, each) for each in _PERCENTILES if latencies
    }
    if as_json:
        document: dict[str, Any] = {
            "records": outcome.records,
            "bytes": outcome.size,
            "seconds": round(seconds, 6),
            "records_per_second": round(rate, 1),
            "mb_per_second": round(mebibytes, 3),
        }
        if latencies:
            document["latency_ms"] = {
                "average": round(sum(latencies) / len(latencies), 3),
                "max": round(latencies[-1], 3),
                **{name: round(value, 3) for name, value in percentiles.items()},
            }
            document["latency_samples"] = len(latencies)
        print_json(document)
        return
    line = f"{outcome.records} records {what}, {rate:.1f} records/sec ({mebibytes:.2f} MB/sec)"
    if latencies:
        line += (
            f", {sum(latencies) / len(latencies):.2f} ms avg latency, "
            f"{latencies[-1]:.2f} ms max latency, "
            + ", ".join(f"{value:.2f} ms {name}" for name, value in percentiles.items())
        )
    click.echo(line + ".")
    if latencies and sampled:
        click.echo(f"Latencies were taken of {len(latencies)} of the records.")


def _percentile(ordered: Sequence[float], percent: float) -> float:
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


@contextmanager
def _progress(total: int | None, what: str) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal; elsewhere a line every few seconds, on standard error."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.update(task, completed=done)
        return
    last_time, last_done = time.monotonic(), 0

    def line(done: int) -> None:
        nonlocal last_time, last_done
        now = time.monotonic()
        if now - last_time >= _LINE_EVERY_S:
            rate = (done - last_done) / (now - last_time)
            note(f"{done} records {what}, {rate:.1f} records/sec just now.")
            last_time, last_done = now, done

    yield line
