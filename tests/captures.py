"""Sources of changes without a worker and without Spark: their records as values of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tests.waiting import wait_for

from headwater.config import Values
from headwater.connect.connectors.connector import ConnectorContext
from headwater.connect.connectors.debezium.source import DebeziumSource
from headwater.connect.connectors.plugins import plugin

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    from headwater.connect.data.shape import Shape


class Event(NamedTuple):
    """A record; a value of None is a tombstone."""

    topic: str
    key: Any
    value: Any
    shape: Shape

    @property
    def op(self) -> str | None:
        """What happened; None for a tombstone."""
        return None if self.value is None else self.value.get("op")


class Captured:
    """A connector that is read from, killed and opened again, with the offsets it has stored."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self.given = dict(given)
        self.offset: Mapping[str, object] | None = None
        self.events: list[Event] = []
        self._source: DebeziumSource | None = None

    def open(self) -> DebeziumSource:
        """Open the source as a worker does, from the stored offset."""
        of = plugin(self.given["connector.class"])
        own = {key: text for key, text in self.given.items() if key in of.definitions}
        config = Values(of.definitions, own)
        assert of.check(config) == []
        context = ConnectorContext("c", _no_spark, stored_offset=lambda _partition: self.offset)
        source: Any = of.open(config, context)
        assert isinstance(source, DebeziumSource)
        self._source = source
        return source

    def lose(self) -> list[Event]:
        """Read a batch that never gets to Kafka, as when a worker is killed; returns it."""
        lost = self._take(is_kept=False)
        self.close()
        return lost

    def batch(self) -> list[Event]:
        """Read a batch, and store its offset with it; returns the batch."""
        return self._take(is_kept=True)

    def until(self, is_done: Callable[[list[Event]], bool]) -> list[Event]:
        """Read batches until all events are as they should be; returns those that are new."""
        before = len(self.events)

        def look() -> bool:
            self.batch()
            return is_done(self.events)

        wait_for(look, lambda: str([(event.topic, event.op) for event in self.events[before:]]))
        return self.events[before:]

    def count(self, number: int, topic: str | None = None) -> list[Event]:
        """Read until there are so many more events, of a topic if one is given."""
        before = len(self.events)

        def are_there(events: list[Event]) -> bool:
            of = [each for each in events[before:] if topic is None or each.topic == topic]
            return len(of) >= number

        found = self.until(are_there)
        return [each for each in found if topic is None or each.topic == topic]

    def close(self) -> None:
        """Close the source, without a word to anybody."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def _take(self, *, is_kept: bool) -> list[Event]:
        source = self._source or self.open()
        records, offset = source.take()
        events = [
            Event(row["topic"], row.get("key"), row["value"], each.shape)
            for each in records
            for row in each.columns.to_pylist()
        ]
        if is_kept and records:
            self.offset = offset
            self.events += events
            source.committed()
        return events


def _no_spark() -> SparkSession:
    raise AssertionError("there is no Spark in this test")
