"""`headwater demo`: a broker, a producer and a consumer, and records flowing between them."""

from __future__ import annotations

import math
import statistics
import sys
import time
from typing import TYPE_CHECKING

import click

from headwater.cli.broker_process import BrokerProcess, preferred_port
from headwater.cli.commands.broker import DEFAULT_PORT
from headwater.cli.demo.stream import PARTITIONS, TOPIC, Arrival, Consumer, Producer
from headwater.cli.demo.view import make_view
from headwater.cli.errors import CommandError, client_failures
from headwater.cli.stop_requests import stop_requests
from headwater.clients import ClusterAccess
from headwater.clients.connection import Connection
from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from headwater.cli.stop_requests import StopRequests

# Only what was lost takes as long, also on a machine that has much else to do.
_DRAIN_WITHIN_S = 60.0


@click.command(
    epilog="""\b
Examples:
  headwater demo
  headwater demo --seconds 10

While it runs, look at the same records from another terminal, with the lines that it prints."""
)
@click.option("--seconds", type=click.FloatRange(min=0), help="Stop by itself after so long.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Default: {DEFAULT_PORT} if it is free, else any free one.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0.1, 1000),
    default=4.0,
    show_default=True,
    help="Sensor readings per second.",
)
def demo(seconds: float | None, port: int | None, rate: float) -> int:
    """Start a broker and show records flow through it, until Ctrl-C.

    Everything happens in a temporary directory, which is removed at the end.
    """
    chosen = preferred_port(DEFAULT_PORT) if port is None else port
    with TemporaryFolder("demo") as directory:
        started = time.monotonic()
        with BrokerProcess(directory / "data", chosen) as broker, stop_requests() as stop:
            _introduce(broker.address, (time.monotonic() - started) * 1000)
            with client_failures():
                return _show(broker, stop, seconds, rate)


def _introduce(address: str, ready_ms: float) -> None:
    click.echo(f"A broker listens on {address}, ready {ready_ms:.0f} ms after it was started.")
    click.echo(f"Sensors write to the topic '{TOPIC}'. From another terminal, look at it with:")
    click.echo(f"  headwater consume {TOPIC} --keys --bootstrap-server {address}")
    click.echo(f"  kcat -b {address} -t {TOPIC} -C -f '%p %o %k %s\\n'")
    click.echo("Ctrl-C ends it.\n")
    sys.stdout.flush()


def _show(broker: BrokerProcess, stop: StopRequests, seconds: float | None, rate: float) -> int:
    connection = Connection(ClusterAccess(broker.address))
    _create_topic(connection)
    consumer = Consumer(connection)
    producer = Producer(connection, rate)
    arrivals: list[Arrival] = []
    deadline = time.monotonic() + (math.inf if seconds is None else seconds)

    try:
        with make_view() as view:

            def receive() -> None:
                if not broker.running:
                    raise CommandError(f"the broker ended:\n{broker.log}")
                for arrival in consumer.poll():
                    arrivals.append(arrival)
                    view.show(arrival, len(arrivals))

            while not stop and time.monotonic() < deadline:
                receive()
            producer.stop()
            drained = time.monotonic() + _DRAIN_WITHIN_S
            while len(arrivals) < producer.delivered and time.monotonic() < drained:
                receive()
    finally:
        producer.stop()
        consumer.close()
    return _summarise(producer, arrivals, broker.resident_bytes)


def _create_topic(connection: Connection) -> None:
    from confluent_kafka.admin import NewTopic

    (future,) = connection.admin.create_topics([NewTopic(TOPIC, PARTITIONS)]).values()
    connection.result(future)


def _summarise(producer: Producer, arrivals: list[Arrival], memory: int | None) -> int:
    latencies = [arrival.latency_ms for arrival in arrivals]
    parts = [f"{producer.delivered} readings produced, {len(arrivals)} consumed"]
    if latencies:
        parts.append(f"{statistics.median(latencies):.1f} ms from sensor to screen (median)")
    if memory is not None:
        parts.append(f"{memory / 1e6:.0f} MB taken by the broker")
    click.echo(f"\n{'; '.join(parts)}.")
    if producer.failed or len(arrivals) < producer.delivered:
        lost = producer.failed + producer.delivered - len(arrivals)
        raise CommandError(f"{lost} readings were lost, which should not happen")
    return 0
