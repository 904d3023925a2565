"""Produce and consume throughput, driven by librdkafka in C through kcat."""

from __future__ import annotations

import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RECORDS = 5_000_000
RECORD_BYTES = 100

_PRODUCER = {
    "linger.ms": 50,
    "batch.size": 1_000_000,
    "batch.num.messages": 100_000,
    "queue.buffering.max.messages": 1_000_000,
    "queue.buffering.max.kbytes": 1_000_000,
}


@contextmanager
def record_file(count: int = RECORDS, size: int = RECORD_BYTES) -> Iterator[Path]:
    """A file with one record a line."""
    line = b"x" * size + b"\n"
    with tempfile.NamedTemporaryFile(prefix="headwater-records-") as file:
        for _ in range(count // 10_000):
            file.write(line * 10_000)
        file.flush()
        yield Path(file.name)


def produce(
    bootstrap_servers: str,
    topic: str,
    records: Path,
    acks: str,
    count: int,
    properties: Mapping[str, str] = MappingProxyType({}),
) -> float:
    """Send the file and return records per second."""
    options = _options({**_PRODUCER, "acks": acks, **properties})
    command = ["kcat", "-b", bootstrap_servers, "-t", topic, "-P", "-l", str(records), *options]
    return count / _seconds(command)


def consume(
    bootstrap_servers: str,
    topic: str,
    count: int,
    properties: Mapping[str, str] = MappingProxyType({}),
) -> float:
    """Read the whole topic and return records per second."""
    options = ["-o", "beginning", "-e", "-q", "-f", ""]
    options += _options({"queued.min.messages": 1_000_000, **properties})
    return count / _seconds(["kcat", "-b", bootstrap_servers, "-t", topic, "-C", *options])


def _options(properties: Mapping[str, object]) -> list[str]:
    return [f"-X{name}={value}" for name, value in properties.items()]


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started
