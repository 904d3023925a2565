"""The REST proxy's figures: records in batches, one at a time, as a stream, and its consumers.

Karapace, the peer in Python, cannot be installed from PyPI, so that these rows have one column.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from benchmarks.targets import HEADWATER, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.results import Results

MEASURED_S = 5.0
CONNECTIONS = 8
BATCH = 100
STREAMED = 20_000
BATCHED_PER_S = 10_000
SINGLES_PER_S = 1_500

BATCHES_PER_CORE = "rest: records in batches of 100, per core"
BATCH_DELAY = "rest: batches of 100, at 10,000 records/s, 99 % answered within"
SINGLES_PER_CORE = "rest: single records, per core"
SINGLE_DELAY = "rest: single records, at 1,500/s, 99 % answered within"
GOALS = {
    BATCHES_PER_CORE: "10,000/s",
    BATCH_DELAY: "20 ms",
    SINGLES_PER_CORE: "1,500/s",
    SINGLE_DELAY: "20 ms",
}

_READY = re.compile(r"REST proxy listening on http://([^:\s]+):(\d+)")
_VALUE = {"sensor": "boiler-1", "value": 812, "note": "x" * 60}


def measure(rounds: int, results: Results, note: Callable[[str], None]) -> None:
    """Measure a proxy on a fresh broker, so many times."""
    for number in range(1, rounds + 1):
        note(f"round {number} of {rounds}: REST proxy")
        with running(HEADWATER) as broker:
            for name, unit, value in _figures(broker.bootstrap_servers):
                results.add(name, unit, HEADWATER, value)


def _figures(bootstrap_servers: str) -> Iterator[tuple[str, str, float]]:
    with _running(bootstrap_servers) as (host, port, process):
        yield "rest: resident memory at start", "MB", process.memory_info().rss / 1e6
        for count, wanted, name, delay in (
            (BATCH, BATCHED_PER_S, BATCHES_PER_CORE, BATCH_DELAY),
            (1, SINGLES_PER_S, SINGLES_PER_CORE, SINGLE_DELAY),
        ):
            asyncio.run(_produce(host, port, count, 1.0))  # warm
            before = _busy_s(process)
            delays = asyncio.run(_produce(host, port, count, MEASURED_S))
            cores = (_busy_s(process) - before) / MEASURED_S
            rate = len(delays) * count / MEASURED_S
            yield name.removesuffix(", per core"), "records/s", rate
            yield name, "records/s", rate / max(cores, 0.01)
            delays = asyncio.run(_produce(host, port, count, MEASURED_S, wanted / count))
            yield delay, "ms", sorted(delays)[int(len(delays) * 0.99)] * 1000
        before = _busy_s(process)
        seconds = asyncio.run(_stream(host, port))
        cores = (_busy_s(process) - before) / seconds
        yield "rest: records as a stream", "records/s", STREAMED / seconds
        yield "rest: records as a stream, per core", "records/s", STREAMED / seconds / cores


def _busy_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


@contextmanager
def _running(bootstrap_servers: str) -> Iterator[tuple[str, int, psutil.Process]]:
    command = [str(Path(sys.executable).with_name("headwater")), "rest"]
    command += ["--port", "0", "--bootstrap-server", bootstrap_servers]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if (match := _READY.search(line)) is not None:
                yield match[1], int(match[2]), psutil.Process(process.pid)
                break
        else:
            raise RuntimeError("the REST proxy did not come up")
    finally:
        process.terminate()
        if process.stderr is not None:
            process.stderr.close()
        process.wait(60)


async def _produce(
    host: str, port: int, count: int, seconds: float, per_s: float | None = None
) -> list[float]:
    """Write for some time on several connections, and return how long each request took.

    So many requests a second, or as many as go. What comes late counts from when it was due.
    """
    every_s = 0.0 if per_s is None else CONNECTIONS / per_s
    body = json.dumps({"records": [{"value": _VALUE}] * count}).encode()
    request = (
        f"POST /topics/bench HTTP/1.1\r\nHost: {host}:{port}\r\n"
        "Content-Type: application/vnd.kafka.json.v2+json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode() + body
    deadline = time.perf_counter() + seconds
    delays: list[float] = []

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection(host, port)
        started = time.perf_counter() + every_s * number / CONNECTIONS
        while started < deadline:
            await asyncio.sleep(started - time.perf_counter())
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200"), head
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            assert length is not None
            await reader.readexactly(int(length[1]))
            now = time.perf_counter()
            delays.append(now - started)
            started = started + every_s if every_s else now
        writer.close()

    await asyncio.gather(*(client(number) for number in range(CONNECTIONS)))
    return delays


async def _stream(host: str, port: int) -> float:
    """Write records over one connection, read their answers, and return how long it took."""
    cluster = await _cluster(host, port)
    record = json.dumps({"value": {"type": "JSON", "data": _VALUE}}).encode() + b"\n"
    reader, writer = await asyncio.open_connection(host, port)
    head = (
        f"POST /v3/clusters/{cluster}/topics/bench/records HTTP/1.1\r\nHost: {host}:{port}\r\n"
        "Content-Type: application/json\r\n"
        f"Content-Length: {len(record) * STREAMED}\r\n\r\n"
    )
    started = time.perf_counter()
    writer.write(head.encode())

    async def send() -> None:
        for _ in range(STREAMED):
            writer.write(record)
            await writer.drain()

    sending = asyncio.create_task(send())
    answered = 0
    while answered < STREAMED:
        answered += (await reader.readline()).startswith(b'{"error_code":200')
    await sending
    writer.close()
    return time.perf_counter() - started


async def _cluster(host: str, port: int) -> str:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET /v3/clusters HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
    found = re.search(rb'"cluster_id":"([^"]+)"', await reader.read())
    writer.close()
    assert found is not None
    return found[1].decode()
