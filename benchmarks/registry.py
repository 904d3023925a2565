"""The schema registry's figures: start-up with ten thousand subjects, reads and registrations.

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
from confluent_kafka import Producer
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient

from benchmarks.targets import HEADWATER, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.results import Results

SUBJECTS = 10_000
READ_S = 5.0
CONNECTIONS = 16
REGISTRATIONS = 300

START = "registry: start with 10,000 subjects"
READS_PER_CORE = "registry: cached reads, per core"
GOALS = {START: "5,000 ms", READS_PER_CORE: "2,000/s"}

_READY = re.compile(r"schema registry listening on (http://\S+)")


def measure(rounds: int, results: Results, note: Callable[[str], None]) -> None:
    """Measure a registry on a fresh broker, so many times."""
    for number in range(1, rounds + 1):
        note(f"round {number} of {rounds}: schema registry")
        with running(HEADWATER) as broker:
            for name, unit, value in _figures(broker.bootstrap_servers):
                results.add(name, unit, HEADWATER, value)


def _figures(bootstrap_servers: str) -> Iterator[tuple[str, str, float]]:
    with _running(bootstrap_servers) as (url, _, _):
        SchemaRegistryClient({"url": url}).get_subjects()  # it made its topic
    _fill(bootstrap_servers, SUBJECTS)
    with _running(bootstrap_servers) as (url, process, ready_s):
        yield START, "ms", ready_s * 1000
        yield (
            "registry: resident memory with 10,000 subjects", "MB", process.memory_info().rss / 1e6
        )  # fmt: skip
        before = process.cpu_times()
        rate = asyncio.run(_read(url, f"/schemas/ids/{SUBJECTS // 2}"))
        after = process.cpu_times()
        busy = (after.user + after.system - before.user - before.system) / READ_S
        yield "registry: cached reads", "requests/s", rate
        yield READS_PER_CORE, "requests/s", rate / max(busy, 0.01)
        yield "registry: registrations, one client", "requests/s", _register(url)


@contextmanager
def _running(bootstrap_servers: str) -> Iterator[tuple[str, psutil.Process, float]]:
    command = [str(Path(sys.executable).with_name("headwater")), "registry"]
    command += ["--port", "0", "--bootstrap-server", bootstrap_servers]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    started = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if (match := _READY.search(line)) is not None:
                yield match[1], psutil.Process(process.pid), time.perf_counter() - started
                break
        else:
            raise RuntimeError("the registry did not come up")
    finally:
        process.terminate()
        if process.stderr is not None:
            process.stderr.close()
        process.wait(60)


def _fill(bootstrap_servers: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap_servers, "linger.ms": 50})
    for number in range(1, count + 1):
        subject = f"topic-{number:05}-value"
        fields = [
            {"name": f"field_{each}", "type": ["null", "string"], "default": None}
            for each in range(8)
        ]
        schema = {"type": "record", "name": f"T{number}", "namespace": "bench", "fields": fields}
        key = {"keytype": "SCHEMA", "subject": subject, "version": 1, "magic": 1}
        value = {"subject": subject, "version": 1, "id": number, "schema": _json(schema),
                 "deleted": False}  # fmt: skip
        producer.produce("_schemas", _json(value), _json(key), partition=0)
        producer.poll(0)
    producer.flush()


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


class _Client(asyncio.Protocol):
    """Asks for one path, again and again, and counts the answers."""

    def __init__(self, request: bytes) -> None:
        self.request = request
        self.answers = 0
        self._received = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        match = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        if separator and match is not None and len(body) >= int(match[1]):
            assert head.startswith(b"HTTP/1.1 200"), head
            self._received = body[int(match[1]) :]
            self.answers += 1
            assert self._transport is not None
            self._transport.write(self.request)


async def _read(url: str, path: str) -> float:
    host, port = url.removeprefix("http://").split(":")
    request = (
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\n"
        "Accept: application/vnd.schemaregistry.v1+json, application/json\r\n\r\n"
    ).encode()
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda: _Client(request), host, int(port))
        for _ in range(CONNECTIONS)
    ]
    clients = [client for _, client in made]
    before, started = sum(client.answers for client in clients), time.perf_counter()
    await asyncio.sleep(READ_S)
    rate = (sum(client.answers for client in clients) - before) / (time.perf_counter() - started)
    for transport, _ in made:
        transport.abort()
    return rate


def _register(url: str) -> float:
    client = SchemaRegistryClient({"url": url})
    started = 0.0
    for number in range(REGISTRATIONS + 1):
        schema = {"type": "record", "name": f"New{number}", "fields": []}
        client.register_schema(f"new-{number}", Schema(json.dumps(schema), "AVRO"))
        started = started or time.perf_counter()  # the first one waits for the election
    return REGISTRATIONS / (time.perf_counter() - started)
