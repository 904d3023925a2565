"""Tables that tests write with real producers, and the stores that follow them."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from tests.waiting import HUNG_AFTER_S

from headwater.clients import ClusterAccess
from headwater.plan.formats import Format
from headwater.plan.schemas.types import BIGINT, STRING, WINDOW_FIELDS, Field, Struct
from headwater.stores import FollowedTable, KeyValueStore, Position, Side, WindowStore, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from confluent_kafka import Message

COUNT = Side(Format("json"), Struct.of(count=BIGINT))
WINDOWED = Side(Format("json"), Struct((Field("key", STRING), *WINDOW_FIELDS)))


class StoreTopic:
    """A table's topic, written by one producer."""

    def __init__(
        self, servers: str, name: str, *, partitions: int = 3, transactional: bool = False
    ) -> None:
        self.servers = servers
        self.name = name
        self.admin = AdminClient({"bootstrap.servers": servers})
        self.create(partitions)
        settings: dict[str, Any] = {"bootstrap.servers": servers, "linger.ms": 5, "log_level": 0}
        if transactional:
            settings["transactional.id"] = name
        self.producer = Producer({**settings, "partitioner": "murmur2_random"})
        self._delivered: list[Message] = []

    @property
    def table(self) -> FollowedTable:
        """The table with JSON values and texts as keys."""
        return FollowedTable("counts", self.name, Side(Format("string"), STRING), COUNT)

    def create(self, partitions: int, name: str | None = None) -> None:
        new = NewTopic(name or self.name, partitions, 1)
        self.admin.create_topics([new])[new.topic].result()

    def send(self, key: Any, count: int | None, partition: int = -1) -> None:
        """Send a value, or a tombstone."""
        value = None if count is None else json.dumps({"count": count})
        given = key if key is None or isinstance(key, str) else json.dumps(key)
        self.producer.produce(
            self.name, value, given, partition,
            on_delivery=lambda _, message: self._delivered.append(message),
        )  # fmt: skip

    def flush(self) -> Position:
        """Wait until the broker has all, and return the position behind it."""
        assert self.producer.flush(HUNG_AFTER_S) == 0
        return Position.after(*self._delivered)


@contextmanager
def following(
    table: FollowedTable, servers: str, directory: Path, *, ready: bool = True
) -> Iterator[Any]:
    """Open a store and wait until it is ready."""
    with open_store(table, ClusterAccess(servers), directory) as store:
        assert isinstance(store, WindowStore if table.windowed else KeyValueStore)
        if ready:
            store.wait_until_ready(HUNG_AFTER_S)
        yield store
