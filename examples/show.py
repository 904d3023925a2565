"""Shows an example: writes what it is fed, runs its program, and prints what comes out."""

from __future__ import annotations

import json
import math
import threading
import time
from typing import TYPE_CHECKING, Any

import click
from confluent_kafka import Consumer, Producer
from examples.stage import StoppedError, stage

from headwater.clients import ClusterAccess

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

Record = tuple[str, str, Any]
"""A topic, a key, and a value: text is written as it is, and all else as JSON."""


def show(
    program: Path,
    *,
    inputs: Sequence[str],
    outputs: Sequence[str],
    first: Iterable[Record] = (),
    then: Iterator[Record],
    every_s: float,
    seconds: float | None,
) -> None:
    """Run a program until Ctrl-C, or for so many seconds.

    `first` is written before it starts, and `then` record by record while it runs.
    """
    begun = time.monotonic()
    try:
        with stage(program.parent.name) as platform:
            platform.create_topics(*inputs, *outputs)
            click.echo(f"broker  {platform.servers}")
            click.echo("The first results come when Spark has started. Ctrl-C ends it.\n")
            writer = _Writer(platform.servers, platform.stop)
            for record in first:
                writer.write(*record)
            with platform.program(program) as running, _Reader(platform.servers, outputs) as reader:
                writer.start(then, every_s)
                deadline = begun + (math.inf if seconds is None else seconds)
                while not platform.stop.is_set() and time.monotonic() < deadline:
                    running.check()
                    reader.print_some()
                platform.stop.set()
                writer.close()
    except StoppedError:
        return


class _Writer:
    def __init__(self, servers: str, stop: threading.Event) -> None:
        self._producer = Producer(ClusterAccess(servers).producer())
        self._stop = stop
        self._thread: threading.Thread | None = None

    def write(self, topic: str, key: str, value: Any) -> None:
        data = value if isinstance(value, str) else json.dumps(value)
        self._producer.produce(topic, data, key)
        self._producer.poll(0)

    def start(self, records: Iterator[Record], every_s: float) -> None:
        self._thread = threading.Thread(target=self._run, args=(records, every_s))
        self._thread.start()

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join()
        del self._producer  # which would say that its broker has gone

    def _run(self, records: Iterator[Record], every_s: float) -> None:
        for record in records:
            self.write(*record)
            if self._stop.wait(every_s):
                break
        self._producer.flush(10)


class _Reader:
    def __init__(self, servers: str, topics: Sequence[str]) -> None:
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": "show",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
            }
        )
        self._consumer.subscribe(list(topics))

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close()

    def print_some(self) -> None:
        for message in self._consumer.consume(100, timeout=0.1):
            if message.error() is not None:
                raise click.ClickException(f"reading the results failed: {message.error()}")
            key = (message.key() or b"").decode("utf-8", "replace")
            value = (message.value() or b"(deleted)").decode("utf-8", "replace")
            click.echo(f"{message.topic()}  {key}  {value}")
