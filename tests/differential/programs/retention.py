"""Retention: what is deleted, by time and by size, and what a client sees of it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from tests.differential.observation import plain, values
from tests.differential.program import program
from tests.differential.programs.configs import SET, TOPIC, alter
from tests.integration.raw_requests import Topic, create_topic, fetch, list_offset, produce
from tests.integration.record_batches import Message, batch_of
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient

EARLIEST, LATEST = -2, -1
LONG_AGO = 1_000_000_000_000


def topic_with(client: RawClient, name: str, **configs: str) -> Topic:
    own = {key.replace("_", "."): value for key, value in configs.items()}
    return create_topic(client, name, configs=own)


def write(client: RawClient, topic: Topic, timestamp: int, size: int = 10) -> None:
    produce(client, topic, batch_of([Message(b"v" * size, timestamp=timestamp)]))


def starts_at(client: RawClient, topic: Topic, offset: int) -> Any:
    """Both ends of the log when it starts at an offset."""
    wait_for(lambda: list_offset(client, topic, EARLIEST).offset >= offset)
    return plain(list_offset(client, topic, EARLIEST)), plain(list_offset(client, topic, LATEST))


@program
def retention_by_time_empties_the_log(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = topic_with(client, name, retention_ms="3600000")
        for _ in range(3):
            write(client, topic, LONG_AGO)
        ends = starts_at(client, topic, 3)
        write(client, topic, int(time.time() * 1000))
        return (
            ends,
            values(fetch(client, topic, 3).records),
            plain(fetch(client, topic, 0).error_code),
        )


@program
def retention_by_time_spares_what_is_young(engine: Engine, name: str) -> Any:
    now = int(time.time() * 1000)
    with engine.raw() as client:
        topic = topic_with(client, name, retention_ms="3600000", segment_bytes="1048576")
        write(client, topic, LONG_AGO, 600_000)
        write(client, topic, LONG_AGO, 600_000)
        write(client, topic, now, 600_000)
        ends = starts_at(client, topic, 2)
        return ends, [offset for offset, _ in values(fetch(client, topic, 2).records)]


@program
def retention_by_size(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = topic_with(client, name, retention_bytes="1200000", segment_bytes="1048576")
        for _ in range(6):
            write(client, topic, LONG_AGO, 600_000)
        return starts_at(client, topic, 4)


@program
def retention_that_comes_later(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = topic_with(client, name)
        write(client, topic, LONG_AGO)
        before = plain(list_offset(client, topic, EARLIEST))
        answer = alter(client, TOPIC, name, (SET, "retention.ms", "1000"))
        return before, answer, starts_at(client, topic, 1)


@program
def retention_of_a_compacted_topic_deletes_nothing(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = topic_with(client, name, cleanup_policy="compact", retention_ms="1")
        produce(client, topic, batch_of([Message(b"v", b"k", LONG_AGO)]))
        other = topic_with(client, f"{name}-witness", retention_ms="1000")
        write(client, other, LONG_AGO)
        # When the witness has gone, the round of retention has come past both.
        starts_at(client, other, 1)
        return plain(list_offset(client, topic, EARLIEST))


@program
def retention_goes_by_the_latest_timestamp(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        topic = topic_with(client, name, retention_ms="3600000")
        now = int(time.time() * 1000)
        produce(
            client,
            topic,
            batch_of([Message(b"old", timestamp=LONG_AGO), Message(b"new", timestamp=now)]),
        )
        other = topic_with(client, f"{name}-witness", retention_ms="1000")
        write(client, other, LONG_AGO)
        starts_at(client, other, 1)
        return plain(list_offset(client, topic, EARLIEST))
