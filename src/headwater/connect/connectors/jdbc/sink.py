"""The JDBC sink: records become rows of tables."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any

import headwater
from headwater.connect.connectors.connector import ConnectorError, ConnectorType, RetriableError
from headwater.connect.connectors.jdbc.database import Access, Database
from headwater.connect.connectors.jdbc.errors import database_errors
from headwater.connect.connectors.jdbc.offsets_table import OffsetsTable
from headwater.connect.connectors.jdbc.row_columns import RowColumns, row_columns
from headwater.connect.connectors.jdbc.sink_settings import (
    SINK_DEFINITIONS,
    InsertMode,
    check_sink,
)
from headwater.connect.connectors.jdbc.tables import TargetTables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.config import Values
    from headwater.connect.connectors.connector import (
        ConnectorContext,
        FieldError,
        SinkBatch,
        TopicPartition,
    )

_LOGGER = logging.getLogger(__name__)


class JdbcSinkPlugin:
    """Writes to tables of a database."""

    class_names = (
        "io.confluent.connect.jdbc.JdbcSinkConnector",
        "JdbcSinkConnector",
        "JdbcSink",
    )
    type = ConnectorType.SINK
    version = headwater.__version__
    definitions = SINK_DEFINITIONS

    def check(self, config: Values) -> list[FieldError]:
        """Return what is wrong with the properties together."""
        return check_sink(config)

    def open(self, config: Values, context: ConnectorContext) -> JdbcSink:
        """Return a sink; the database is first asked when there is something to write."""
        if errors := check_sink(config):
            raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))
        return JdbcSink(config, context)


class JdbcSink:
    """Tables of one database. Each Spark task writes its rows in one transaction."""

    def __init__(self, config: Values, context: ConnectorContext) -> None:
        self._config = config
        self._context = context
        self._mode = InsertMode(config.text("insert.mode") or "")
        self._is_closed = threading.Event()
        self._database = Database(context.session, Access.of(config))
        self._tables = TargetTables(self._database, config)
        name = config.text("offsets.table") or ""
        # Rows with a key are written over: they are right however often they are written.
        has_offsets = self._mode is InsertMode.INSERT and name
        self._offsets = OffsetsTable(self._database, name, context.name) if has_offsets else None
        self._has_created = False

    def write(self, batch: SinkBatch) -> None:
        """Write a batch; tried again as often as `max.retries` says while the database fails."""
        tries = self._config.integer("max.retries")
        while True:
            try:
                return self._write(batch)
            except RetriableError as failure:
                if tries == 0 or self._is_closed.is_set():
                    raise
                tries -= 1
                _LOGGER.warning("%s: %s; %d tries are left", self._context.name, failure, tries)
            self._is_closed.wait(self._config.integer("retry.backoff.ms") / 1000)

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Take these records, too, though they may have been written."""
        if self._offsets is not None:
            self._create_offsets(self._offsets)
            self._offsets.move(positions)

    def close(self) -> None:
        """Close the connection, and wait for no database that is away."""
        self._is_closed.set()
        self._database.close()

    def _write(self, batch: SinkBatch) -> None:
        columns = row_columns(batch.shape, self._config)
        topics = self._topics(batch)
        for topic in topics:
            self._tables.fit(topic, columns)
        if self._offsets is not None:
            self._create_offsets(self._offsets)
            self._offsets.expect(batch.ranges)
        rows = batch.frame.selectExpr(
            "_topic",
            "_partition",
            "_offset",
            f"IF(({columns.refused}) IS NULL, topic, "
            f"CAST(raise_error({columns.refused}) AS STRING))",
            "value IS NULL",
            *(column.sql for column in columns.all),
        ).coalesce(self._writers())
        with database_errors("the rows were not written"):
            self._writer(topics, columns).write(rows._jdf)  # noqa: SLF001 - for our own Java

    def _topics(self, batch: SinkBatch) -> list[str]:
        if not self._context.properties.get("transforms"):
            return sorted({partition.topic for partition in batch.ranges})
        # Transforms may have named others. The column alone is read, and no value.
        return sorted(row[0] for row in batch.frame.select("topic").distinct().collect())

    def _writer(self, topics: Iterable[str], columns: RowColumns) -> Any:
        jvm: Any = self._context.session.sparkContext._jvm  # noqa: SLF001 - there is no other door
        jdbc = jvm.io.headwater.jdbc
        return jdbc.BatchWriter(
            self._database.java,
            {topic: jdbc.BatchWriter.Target(*self._statements(topic, columns)) for topic in topics},
            None if self._offsets is None else self._offsets.statements(jdbc),
            len(columns.key),
            self._config.integer("batch.size"),
            self._config.text("db.timezone"),
        )

    def _statements(self, topic: str, columns: RowColumns) -> tuple[str, str | None]:
        dialect, table = self._database.dialect, self._tables.name(topic)
        names = [column.name for column in columns.all]
        key = [column.name for column in columns.key]
        match self._mode:
            case InsertMode.INSERT:
                write = dialect.insert(table, names)
            case InsertMode.UPSERT:
                write = dialect.upsert(table, names, key)
            case InsertMode.UPDATE:
                write = dialect.update(table, [each.name for each in columns.others], key)
        delete = dialect.delete(table, key) if self._config.boolean("delete.enabled") else None
        return write, delete

    def _writers(self) -> int:
        most = self._database.dialect.most_writers
        return self._context.tasks_max if most is None else min(most, self._context.tasks_max)

    def _create_offsets(self, offsets: OffsetsTable) -> None:
        if not self._has_created:
            offsets.create()
            self._has_created = True
