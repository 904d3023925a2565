"""TLS listeners side by side, with the same certificate: records in, records out, handshakes."""

from __future__ import annotations

import os
import socket
import ssl
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import throughput
from benchmarks.kafka_tools import create
from benchmarks.targets import (
    API_VERSIONS,
    HEADWATER_OS,
    KAFKA,
    Running,
    Target,
    TlsListener,
    free_port,
    running,
)
from headwater.security.authority import Authority

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.results import Results

SECTION = "tls"
TARGETS = (HEADWATER_OS, KAFKA)

# Some seconds each, of which the first records are spent in a topic of their own: a JVM gets fast
# with use.
RECORDS = {100: 3_000_000, 1_000: 500_000}
WARM_UP_S = 2.0
CLIENTS = 4
CONNECTING_S = 4.0

_CONNECTIONS = "TLS: connections"


def _row(what: str, record_bytes: int) -> str:
    return f"TLS: {what}, {record_bytes:,}-byte records"


def _cpu_row(row: str) -> str:
    return f"{row}: CPU of the broker for a million"


GOALS = {
    **{_row(what, size): "1.0x" for size in RECORDS for what in ("produce", "consume")},
    _CONNECTIONS: "1.0x",
}

INTRODUCTION = f"""Listeners with TLS 1.3 and a certificate on the curve P-256, the same for both,
whose clients show none. Both brokers are up and warm, and take turns row by row. Both answer from
the page cache (`flush=os`, `acks=1`). Producers and consumers are librdkafka through kcat, with one
partition.

A connection is a whole handshake, an ApiVersions and its answer: {CLIENTS} threads of one client
make one after the other, with no session that they could resume. Client and broker share the
machine."""


def measure(rounds: int, results: Results, say: Callable[[str], None]) -> None:
    """Measure both brokers in turn, so many times."""
    with tempfile.TemporaryDirectory(prefix="headwater-bench-tls-") as folder, ExitStack() as stack:
        key_store, authority = _certificates(Path(folder))
        files = {
            size: stack.enter_context(throughput.record_file(count, size))
            for size, count in RECORDS.items()
        }
        for number in range(rounds):
            _measure_round(number, rounds, key_store, authority, files, results, say)


def _measure_round(
    number: int,
    rounds: int,
    key_store: Path,
    authority: Path,
    files: Mapping[int, Path],
    results: Results,
    say: Callable[[str], None],
) -> None:
    turn = TARGETS if number % 2 == 0 else TARGETS[::-1]
    with ExitStack() as stack:
        doors = []
        for target in turn:
            listener = TlsListener(free_port(), key_store)
            broker = stack.enter_context(running(target._replace(tls=listener)))
            doors.append(_Door(target, broker, listener.port, authority))
        say(f"TLS, round {number + 1} of {rounds}: warming up")
        for door in doors:
            door.warm_up(files)
        for size, records in files.items():
            say(f"TLS, round {number + 1} of {rounds}: {size:,} bytes")
            for door in doors:
                door.produce(size, records, results)
            for door in doors:
                door.consume(size, results)
        say(f"TLS, round {number + 1} of {rounds}: connections")
        for door in doors:
            door.connect(results)


class _Door:
    """The TLS listener of a broker."""

    def __init__(self, target: Target, broker: Running, port: int, authority: Path) -> None:
        self._target = target
        self._broker = broker
        self._port = port
        self._servers = f"127.0.0.1:{port}"
        self._properties = {"security.protocol": "SSL", "ssl.ca.location": str(authority)}
        self._context = ssl.create_default_context(cafile=authority)

    def warm_up(self, files: Mapping[int, Path]) -> None:
        for size, records in files.items():
            create(self._broker.bootstrap_servers, f"tls-{size}", 1)
            create(self._broker.bootstrap_servers, f"warm-{size}", 1)
            self._produce(f"warm-{size}", records, RECORDS[size])
            self._consume(f"warm-{size}", RECORDS[size])
        self._connect(WARM_UP_S)

    def produce(self, size: int, records: Path, results: Results) -> None:
        self._add(
            _row("produce", size),
            RECORDS[size],
            results,
            lambda: self._produce(f"tls-{size}", records, RECORDS[size]),
        )

    def consume(self, size: int, results: Results) -> None:
        self._add(
            _row("consume", size),
            RECORDS[size],
            results,
            lambda: self._consume(f"tls-{size}", RECORDS[size]),
        )

    def connect(self, results: Results) -> None:
        results.add(_CONNECTIONS, "connections/s", self._target, self._connect(CONNECTING_S))

    def _add(self, row: str, count: int, results: Results, load: Callable[[], float]) -> None:
        # What the broker before has left in the page cache is written now, and not in our time.
        os.sync()
        before = self._broker.cpu_s()
        results.add(row, "records/s", self._target, load())
        spent_ms = (self._broker.cpu_s() - before) * 1000
        results.add(_cpu_row(row), "ms", self._target, spent_ms / (count / 1e6))

    def _produce(self, topic: str, records: Path, count: int) -> float:
        return throughput.produce(self._servers, topic, records, "1", count, self._properties)

    def _consume(self, topic: str, count: int) -> float:
        return throughput.consume(self._servers, topic, count, self._properties)

    def _connect(self, within_s: float) -> float:
        """Return how many connections a second its clients get."""
        started = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as clients:
            counts = list(clients.map(self._connect_until, [started + within_s] * CLIENTS))
        return sum(counts) / (time.perf_counter() - started)

    def _connect_until(self, end: float) -> int:
        count = 0
        while time.perf_counter() < end:
            plain = socket.create_connection(("127.0.0.1", self._port), 30)
            with self._context.wrap_socket(plain, server_hostname="127.0.0.1") as client:
                client.sendall(API_VERSIONS)
                if not client.recv(4):
                    raise RuntimeError(f"{self._target.name} hung up on a client")
            count += 1
        return count


def _certificates(folder: Path) -> tuple[Path, Path]:
    """Make a key with a certificate for loopback, and whom to trust for it."""
    authority = Authority.create("Headwater's benchmarks")
    issued = authority.issue("broker", 2, ("127.0.0.1", "localhost"))
    key_store, trusted = folder / "broker.pem", folder / "authority.pem"
    key_store.write_text(issued.key_pem + issued.certificate_pem)
    trusted.write_text(authority.own.certificate_pem)
    return key_store, trusted
