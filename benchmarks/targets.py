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
_API_VERSIONS = bytes.fromhex("0000000f 0012 0000 00000001 0005") + b"bench"


class Target(NamedTuple):
    """A broker to measure."""

    name: str
    properties: tuple[str, ...] = ()
    is_kafka: bool = False
    module: str | None = None
    """Run instead of `headwater`: a broker that keeps no records."""

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
        command = apache_kafka.prepare(directory, port, free_port())
    else:
        command = [str(Path(sys.executable).with_name("headwater"))]
        if target.module is not None:
            command = [sys.executable, "-m", target.module]
        command += ["broker", "--port", str(port), "--data", str(directory / "data")]
        for assignment in target.properties:
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
                client.sendall(_API_VERSIONS)
                if client.recv(4):
                    return
        except OSError:
            time.sleep(0.002)
    raise RuntimeError(f"no broker answered on port {port} within {within_s} s")
