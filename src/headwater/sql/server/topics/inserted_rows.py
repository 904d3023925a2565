"""Rows of INSERT INTO ... VALUES and of /inserts-stream, written to their topics."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

from headwater.clients.connection import Connection
from headwater.clients.errors import describe
from headwater.sql.errors import SqlError
from headwater.sql.server.rows.inserted import inserted_values
from headwater.sql.server.rows.inserted_json import inserted_json
from headwater.sql.server.rows.records import RecordWriter
from headwater.sql.tree.statements.creation import SourceKind
from headwater.sql.types.sql_type import BIGINT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clients import ClusterAccess
    from headwater.serde import SchemaRegistryClient
    from headwater.sql.analysis.outcomes import InsertRow
    from headwater.sql.metastore.source import DataSource

_POLL_S = 0.05
_DELIVERED_WITHIN_MS = 30_000


class RowInserter:
    """Writes rows, and tells when the cluster has them."""

    def __init__(self, access: ClusterAccess, registry: SchemaRegistryClient | None) -> None:
        self._access = access
        self._registry = registry
        self._producer: Any = None
        self._writers: dict[DataSource, RecordWriter] = {}
        self._stopping = threading.Event()
        self._guard = threading.Lock()

    async def insert(self, row: InsertRow) -> None:
        """Write a row of a statement; raises SqlError."""
        await self.write(row.target, inserted_values(row))

    async def insert_json(self, target: DataSource, given: Mapping[str, Any]) -> None:
        """Write a row of JSON, whose names may be in any capitals; raises SqlError."""
        known = {column.name.upper(): column for column in target.columns}
        columns: dict[str, Any] = {}
        for name, value in given.items():
            plain = name.strip("`")
            column = target.column(plain) or known.get(plain.upper())
            if column is not None:
                columns[column.name] = inserted_json(column.name, value, column.type)
            elif plain.upper() == "ROWTIME":
                columns["ROWTIME"] = inserted_json("ROWTIME", value, BIGINT)
            else:
                raise SqlError(f"{target.name} has no column {name}")
        missing = [column.name for column in target.key if columns.get(column.name) is None]
        if target.kind is SourceKind.TABLE and missing:
            raise SqlError(f"the row has no value for the primary key: {', '.join(missing)}")
        await self.write(target, columns)

    async def write(self, target: DataSource, columns: Mapping[str, Any]) -> None:
        """Write a row; returns when the cluster has it, and raises SqlError."""
        loop = asyncio.get_running_loop()
        delivered: asyncio.Future[None] = loop.create_future()
        await asyncio.to_thread(self._produce, target, columns, loop, delivered)
        await delivered

    def stop(self) -> None:
        """Let what is on its way arrive."""
        self._stopping.set()
        if self._producer is not None:
            self._producer.flush(10)

    def _produce(
        self,
        target: DataSource,
        columns: Mapping[str, Any],
        loop: asyncio.AbstractEventLoop,
        delivered: asyncio.Future[None],
    ) -> None:
        from confluent_kafka import KafkaException

        key, value = self._writer(target).record(columns)

        def on_delivery(error: Any, _message: Any) -> None:
            loop.call_soon_threadsafe(_settle, delivered, error, target.topic)

        timestamp = columns.get("ROWTIME")
        options = {} if timestamp is None else {"timestamp": timestamp}
        try:
            self._client().produce(target.topic, value, key, on_delivery=on_delivery, **options)
        except (KafkaException, BufferError) as failure:
            raise SqlError(f"the row cannot be written to {target.topic}: {failure}") from None

    def _writer(self, target: DataSource) -> RecordWriter:
        with self._guard:
            writer = self._writers.get(target)
            if writer is None:
                writer = self._writers[target] = RecordWriter(target, self._registry)
            return writer

    def _client(self) -> Any:
        with self._guard:
            if self._producer is None:
                self._producer = Connection(self._access).producer(
                    {"linger.ms": 1, "message.timeout.ms": _DELIVERED_WITHIN_MS}
                )
                threading.Thread(target=self._poll, name="sql-inserts", daemon=True).start()
            return self._producer

    def _poll(self) -> None:
        while not self._stopping.is_set():
            self._producer.poll(_POLL_S)


def _settle(delivered: asyncio.Future[None], error: Any, topic: str) -> None:
    if delivered.done():
        return
    if error is None:
        delivered.set_result(None)
    else:
        delivered.set_exception(SqlError(f"{topic} did not take the row: {describe(error)}"))
