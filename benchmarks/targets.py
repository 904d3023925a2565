"""The brokers under test: started fresh, measured, stopped."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil

from benchmarks import apache_kafka

if TYPE_CHECKING:
    from collections.abc import Iterator

_READY_WITHIN_S = 60.0
# ApiVersions v0, correlation id 1, client id "bench": what every client says first.
API_VERSIONS = bytes.fromhex("0000000f 0012 0000 00000001 0005") + b"bench"


class TlsListener(NamedTuple):
    """A second listener of a broker's, by whose port clients are led back to it."""

    port: int
    key_store: Path

    def settings(self, plain_port: int, *others: str) -> dict[str, str]:
        """Return a broker's settings for both."""
        clients = (f"PLAINTEXT://127.0.0.1:{plain_port}", f"SSL://127.0.0.1:{self.port}")
        return {
            "listeners": ",".join((*clients, *others)),
            "advertised.listeners": ",".join(clients),
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.key_store),
        }


class Target(NamedTuple):
    """A broker to measure."""

    name: str
    properties: tuple[str, ...] = ()
    is_kafka: bool = False
    module: str | None = None
    """Run instead of `headwater`: a broker that keeps no records."""
    tls: TlsListener | None = None

    @property
    def keeps_records(self) -> bool:
        return self.module is None


HEADWATER = Target("Headwater, flush=fsync")
HEADWATER_OS = Target("Headwater, flush=os", ("flush=os",))
KAFKA = Target("Apache Kafka", is_kafka=True)
FORGETFUL = Target("keeps nothing", module="benchmarks.forgetful_broker")
"""What a producer would reach if a broker had nothing to write: no peer, the end of the scale."""
ONE_FLUSH = Target("one flush, nothing else", module="benchmarks.one_flush_broker")
"""What a producer would reach at most if `acks=all` means that records are on this disk."""


class Running(NamedTuple):
    """A broker that answers."""

    process: psutil.Popen
    port: int
    ready_s: float
    """From the command to the first answer."""

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def cpu_s(self) -> float:
        """Return the CPU seconds that it has used so far."""
        used = self.process.cpu_times()
        return float(used.user + used.system)

    def resident_mb(self) -> float:
        return float(self.process.memory_info().rss) / 1e6


@contextmanager
def running(target: Target) -> Iterator[Running]:
    """Start a broker on a fresh directory, wait until it answers, and stop it at the end."""
    directory = Path(tempfile.mkdtemp(prefix="headwater-bench-"))
    try:
        with running_in(directory, target) as broker:
            yield broker
    finally:
        shutil.rmtree(directory)


@contextmanager
def running_in(
    directory: Path, target: Target, within_s: float = _READY_WITHIN_S
) -> Iterator[Running]:
    """Do the same on a directory that may have been used before, and leave that as it is."""
    port = free_port()
    if target.is_kafka:
        controller = free_port()
        settings = {}
        if target.tls is not None:
            settings = target.tls.settings(port, f"CONTROLLER://127.0.0.1:{controller}")
        command = apache_kafka.prepare(directory, port, controller, settings)
    else:
        command = [str(Path(sys.executable).with_name("headwater"))]
        if target.module is not None:
            command = [sys.executable, "-m", target.module]
        command += ["broker", "--data", str(directory / "data")]
        settings = {} if target.tls is None else target.tls.settings(port)
        command += ["--port", str(port)] if target.tls is None else []
        for assignment in (*target.properties, *("=".join(each) for each in settings.items())):
            command += ["--property", assignment]
    # As on a user's machine: modules compiled once, and none of the tests' packages loaded.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = psutil.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for_answer(port, process, within_s)
        yield Running(process, port, time.perf_counter() - started)
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(60)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for_answer(port: int, process: psutil.Popen, within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the broker ended with exit code {process.returncode}")
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as client:
                client.sendall(API_VERSIONS)
                if client.recv(4):
                    return
        except OSError:
            time.sleep(0.002)
    raise RuntimeError(f"no broker answered on port {port} within {within_s} s")
