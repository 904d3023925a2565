"""Whether all results are there: read from the output of a job and counted."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec
from confluent_kafka import Consumer, TopicPartition

from benchmarks.pipeline.workload import PARTITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.pipeline.programs import Kind
    from benchmarks.pipeline.workload import Expected

_AT_ONCE = 10_000
_TOGETHER_S = 0.2
_WITHIN_S = 120.0


class WrongResult(Exception):  # noqa: N818 - says what is the case
    """A job was fast, and left something out or did it twice."""


class _Counted(msgspec.Struct):
    """What the count of a window says, and which one it is where its key does not."""

    count: int
    window_start: str | None = None


def check(kind: Kind, bootstrap_servers: str, topic: str, expected: Expected) -> None:
    """Read what a job has written, committed records alone; raises WrongResult.

    Records are counted where each of them stands for one that was read. Where they are updates, the
    last of each key counts: windows hold as many records as there were, tables as many keys.
    """
    if kind == "filter":
        found, wanted = _number(bootstrap_servers, topic), expected.kept
    elif kind == "join":
        found, wanted = _number(bootstrap_servers, topic), expected.records
    elif kind == "pair":
        found, wanted = _number(bootstrap_servers, topic), expected.pairs
    elif kind == "tables":
        found, wanted = len(_last(bootstrap_servers, topic)), expected.keys
    else:
        found, wanted = _in_windows(bootstrap_servers, topic), expected.records
    if found != wanted:
        raise WrongResult(f"{topic}: the results of {kind!r} come to {found:,}, not {wanted:,}")


def _number(bootstrap_servers: str, topic: str) -> int:
    return sum(1 for _ in _records(bootstrap_servers, topic))


def _last(bootstrap_servers: str, topic: str) -> dict[bytes, bytes]:
    last: dict[bytes, bytes] = {}
    for key, value in _records(bootstrap_servers, topic):
        if value is None:
            last.pop(key, None)
        else:
            last[key] = value
    return last


def _in_windows(bootstrap_servers: str, topic: str) -> int:
    decode = msgspec.json.Decoder(_Counted).decode
    last: dict[tuple[bytes, str | None], int] = {}
    for key, value in _records(bootstrap_servers, topic):
        if value is None:
            last.pop((key, None), None)
        else:
            counted = decode(value)
            last[key, counted.window_start] = counted.count
    return sum(last.values())


def _records(bootstrap_servers: str, topic: str) -> Iterator[tuple[bytes, bytes | None]]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap_servers,
            "group.id": "checks",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_committed",
        }
    )
    consumer.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    try:
        left, deadline = PARTITIONS, time.monotonic() + _WITHIN_S
        while left:
            # It waits for so many, at the end of a topic as well.
            for message in consumer.consume(_AT_ONCE, _TOGETHER_S):
                deadline = time.monotonic() + _WITHIN_S
                if message.error() is None:
                    yield message.key(), message.value()
                else:
                    left -= 1
            if time.monotonic() > deadline:
                raise WrongResult(f"{topic}: nothing came of it for {_WITHIN_S:.0f} s")
    finally:
        consumer.close()
