"""The source of every database: a capture is asked for changes, which become events."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError, SourceRows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.config import Values
    from headwater.connect.connectors.connector import ConnectorContext, FieldError, SourceOffset
    from headwater.connect.connectors.debezium.change import Batch, Capture
    from headwater.connect.connectors.debezium.events import Records
    from headwater.connect.data.schema import Schema


def partition_of(config: Values) -> dict[str, object]:
    """Return Debezium's source partition, under which offsets are stored."""
    return {"server": config.text("topic.prefix")}


def refuse(errors: Sequence[FieldError]) -> None:
    """Raise ConnectorError if there is anything wrong."""
    if errors:
        raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))


@contextmanager
def needed_packages() -> Iterator[None]:
    """Say what to install if a package is missing."""
    try:
        yield
    except ImportError as failure:
        raise ConnectorError(
            f"{failure}: install it with the extra, pip install 'headwater[connect]'"
        ) from failure


class DebeziumSource:
    """Asks a capture, and makes one frame of the events of each table.

    All of a batch has one offset, so that the worker writes it in one transaction.
    """

    def __init__(
        self,
        capture: Capture,
        config: Values,
        context: ConnectorContext,
        connector: str,
        source: Schema,
    ) -> None:
        self._capture = capture
        self._context = context
        self._connector = connector
        self._source = source
        self._partition = partition_of(config)
        self._prefix = config.text("topic.prefix") or ""
        self._heartbeats = f"{config.text('topic.heartbeat.prefix')}.{self._prefix}"
        self._heartbeat_s = config.integer("heartbeat.interval.ms") / 1000
        self._wait_s = config.integer("poll.interval.ms") / 1000
        self._most = config.integer("transaction.max.rows")
        self._tombstones = config.boolean("tombstones.on.delete")
        self._polled: SourceOffset | None = None
        self._untold: SourceOffset | None = None
        self._told_at = time.monotonic()
        self._next_poll = 0.0

    def poll(self) -> Sequence[SourceRows]:
        """Return what has changed; nothing, and without Spark, if nothing has."""
        records, offset = self.take()
        if not records:
            return ()
        session = self._context.session
        offsets = ((self._partition, offset),)
        return [
            SourceRows(session.createDataFrame(each.columns).coalesce(1), each.shape, offsets)
            for each in records
        ]

    def take(self) -> tuple[list[Records], SourceOffset]:
        """Return what has changed, before Spark gets it, and the offset after it."""
        batch = self._capture.read(self._most)
        if batch.offset is None:
            batch.offset = self._untold
        records = self._records(batch)
        self._next_poll = 0.0 if batch.has_more else time.monotonic() + self._wait_s
        if not records:
            self._untold = batch.offset
            return [], {}
        self._untold, self._told_at = None, time.monotonic()
        self._polled = batch.offset or {}
        return records, self._polled

    def _records(self, batch: Batch) -> list[Records]:
        from headwater.connect.connectors.debezium.events import (
            change_events,
            heartbeats,
            schema_change_events,
        )

        records = change_events(batch.changes, self._source, tombstones=self._tombstones)
        if batch.schema_changes:
            records.append(
                schema_change_events(
                    batch.schema_changes, self._prefix, self._connector, self._source
                )
            )
        if records or batch.offset is None:
            return records
        if batch.has_to_be_stored:
            return [heartbeats(self._heartbeats, self._prefix, count=0)]
        since = time.monotonic() - self._told_at
        if self._heartbeat_s and since >= self._heartbeat_s:
            return [heartbeats(self._heartbeats, self._prefix)]
        return []

    def next_poll_s(self) -> float:
        """Return 0 while there is more to read."""
        return max(0.0, self._next_poll - time.monotonic())

    def committed(self) -> None:
        """Tell the database that it may forget what is in the topics."""
        if self._polled is not None:
            self._capture.committed(self._polled)

    def close(self) -> None:
        """Close the capture."""
        self._capture.close()
