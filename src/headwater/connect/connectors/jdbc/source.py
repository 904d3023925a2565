"""The JDBC source: new rows of tables, or of a query, become records."""

from __future__ import annotations

import time
from collections import deque
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import headwater
from headwater.connect.connectors.connector import ConnectorError, ConnectorType
from headwater.connect.connectors.jdbc.column_types import Columns
from headwater.connect.connectors.jdbc.database import Access, Database
from headwater.connect.connectors.jdbc.offset import TableOffset
from headwater.connect.connectors.jdbc.reading import Window, WindowReader
from headwater.connect.connectors.jdbc.relation import (
    chosen,
    progress_of,
    query_relation,
    table_relation,
)
from headwater.connect.connectors.jdbc.source_settings import (
    SOURCE_DEFINITIONS,
    Mode,
    check_source,
    numeric_mapping,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.config import Values
    from headwater.connect.connectors.connector import ConnectorContext, FieldError, SourceRows
    from headwater.connect.connectors.jdbc.progress import Progress
    from headwater.connect.connectors.jdbc.relation import Relation

# Ranges of numbers are worth a task of their own from here on.
_SPLIT_FROM = 20_000
# Tables whose records' schemas differ are a Spark job each; so many are read in one poll.
_MOST_TABLES = 50


class JdbcSourcePlugin:
    """Reads tables of a database."""

    class_names = (
        "io.confluent.connect.jdbc.JdbcSourceConnector",
        "JdbcSourceConnector",
        "JdbcSource",
    )
    type = ConnectorType.SOURCE
    version = headwater.__version__
    definitions = SOURCE_DEFINITIONS

    def check(self, config: Values) -> list[FieldError]:
        """Return what is wrong with the properties together."""
        return check_source(config)

    def open(self, config: Values, context: ConnectorContext) -> JdbcSource:
        """Return a source that goes on from the stored offsets."""
        if errors := check_source(config):
            raise ConnectorError("; ".join(f"{each.name}: {each.message}" for each in errors))
        return JdbcSource(config, context)


class JdbcSource:
    """Tables of one database, or a query. It asks each for its last row; tasks read the rows."""

    def __init__(self, config: Values, context: ConnectorContext) -> None:
        self._config = config
        self._context = context
        self._mode = Mode(config.text("mode") or "")
        self._is_schemaless = _writes_no_schemas(context.properties)
        self._database = Database(context.session, Access.of(config))
        self._reader = WindowReader(
            context.session,
            self._database,
            tasks=context.tasks_max,
            fetch_size=config.integer("batch.max.rows"),
        )
        self._relations: dict[str, Relation] = {}
        self._progress: dict[str, Progress] = {}
        self._offsets: dict[str, TableOffset | None] = {}
        # The ends of what is new in tables that were asked and not read yet, in their turn.
        self._ends: dict[str, TableOffset] = {}
        self._waiting: deque[str] = deque()
        self._next_poll = self._next_listing = 0.0
        self._has_more = False

    def poll(self) -> Sequence[SourceRows]:
        """Return the rows that are new in any of the tables."""
        now = time.monotonic()
        is_due = now >= self._next_poll
        if not is_due and not self._has_more:
            return ()
        if now >= self._next_listing:
            self._list_relations()
            self._next_listing = now + self._config.integer("table.poll.interval.ms") / 1000
        if self._mode is Mode.BULK:
            windows = self._whole()
            self._wait_from(now)
        else:
            if is_due:
                self._look_for_news()
                # Of thousands of tables it takes longer than a short interval.
                self._wait_from(time.monotonic())
            windows = self._news()
        return self._reader.read(windows)

    def next_poll_s(self) -> float:
        """Return how long it is until `poll.interval.ms` is over; 0 while rows are left."""
        return 0.0 if self._has_more else max(0.0, self._next_poll - time.monotonic())

    def committed(self) -> None:
        """Do nothing: the offsets move on with each poll."""

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def _wait_from(self, moment: float) -> None:
        self._next_poll = moment + self._config.integer("poll.interval.ms") / 1000

    def _list_relations(self) -> None:
        if self._config.text("query"):
            found = [query_relation(self._config)]
        else:
            tables = self._database.tables(
                self._config.text("catalog.pattern"),
                self._config.text("schema.pattern"),
                self._config.words("table.types"),
            )
            picked = chosen(tables, self._config)
            found = [table_relation(table, self._config, self._name) for table in picked]
        before, self._relations = self._relations, {each.name: each for each in found}
        self._ends = {name: end for name, end in self._ends.items() if name in self._relations}
        new = [each for each in found if each.name not in before]
        if self._mode is Mode.BULK or not new:
            return
        described = self._database.columns([each.description for each in new])
        for relation, columns in zip(new, described, strict=True):
            self._progress[relation.name] = progress_of(
                relation, columns, self._config, self._database.dialect, self._name
            )
            stored = self._context.stored_offset(relation.partition)
            self._offsets[relation.name] = TableOffset.of(stored) if stored else self._initial()

    def _whole(self) -> list[Window]:
        if not self._waiting:
            self._waiting.extend(self._relations)
        count = min(len(self._waiting), self._most_tables())
        names = [self._waiting.popleft() for _ in range(count)]
        self._has_more = bool(self._waiting)
        relations = [self._relations[name] for name in names if name in self._relations]
        return [
            Window(columns, relation.topic, (self._select(relation, columns),), None)
            for relation, columns in zip(relations, self._columns(relations), strict=True)
        ]

    def _look_for_news(self) -> None:
        """Ask the tables of which nothing is known that has not been read."""
        names = [name for name in self._relations if name not in self._ends]
        before = self._before()
        asked = [self._progress[name].last(self._offsets[name], before) for name in names]
        for name, row in zip(names, self._database.first_rows(asked), strict=True):
            end = None if row is None else self._progress[name].read(row)
            if end is not None:
                self._ends[name] = end

    def _news(self) -> list[Window]:
        names = list(islice(self._ends, self._most_tables()))
        if not names:
            # Also where the tables that had more are gone.
            self._has_more = False
            return []
        ends = {name: self._ends.pop(name) for name in names}
        near = self._limited(ends)
        # The rest of these has its turn after the other tables.
        self._ends |= {name: ends[name] for name in near}
        self._has_more = bool(self._ends)
        ends |= near
        relations = [self._relations[name] for name in ends]
        return [
            self._window(relation, columns, ends[relation.name])
            for relation, columns in zip(relations, self._columns(relations), strict=True)
        ]

    def _most_tables(self) -> int:
        # Without schemas in the records, rows of tables that are alike are read as one.
        return len(self._relations) if self._is_schemaless else _MOST_TABLES

    def _limited(self, ends: Mapping[str, TableOffset]) -> dict[str, TableOffset]:
        """Return earlier ends where there are more rows than are taken at once."""
        most = self._config.integer("transaction.max.rows")
        asked = [
            self._progress[name].nth(self._offsets[name], end, most) for name, end in ends.items()
        ]
        found: dict[str, TableOffset] = {}
        for name, row in zip(ends, self._database.first_rows(asked), strict=True):
            end = None if row is None else self._progress[name].read(row)
            if end is not None and end != ends[name]:
                found[name] = end
        return found

    def _window(self, relation: Relation, columns: Columns, end: TableOffset) -> Window:
        progress, start = self._progress[relation.name], self._offsets[relation.name]
        self._offsets[relation.name] = end
        names = ", ".join(map(self._name, columns.names))
        queries = tuple(
            progress.rows(names, first, last, self._suffix())
            for first, last in self._parts(progress, start, end)
        )
        return Window(columns, relation.topic, queries, (relation.partition, end.as_map()))

    def _parts(
        self, progress: Progress, start: TableOffset | None, end: TableOffset
    ) -> list[tuple[TableOffset | None, TableOffset]]:
        """Cut a range of numbers into as many as there are tasks, if it is worth it."""
        if self._context.tasks_max == 1 or end.timestamp is not None or end.incrementing is None:
            return [(start, end)]
        first = None if start is None else start.incrementing
        if first is None:
            row = self._database.first_rows([progress.first_number(end)])[0]
            first = int((row and row[0]) or end.incrementing) - 1
        count = min(self._context.tasks_max, 1 + (end.incrementing - first) // _SPLIT_FROM)
        bounds = [first + (end.incrementing - first) * part // count for part in range(count + 1)]
        return [(TableOffset(low), TableOffset(high)) for low, high in pairwise(bounds)]

    def _columns(self, relations: Sequence[Relation]) -> list[Columns]:
        """Return what the columns are now: somebody may have changed a table."""
        described = self._database.columns([each.description for each in relations])
        return [
            Columns(
                None if self._is_schemaless else relation.schema_name,
                columns,
                self._database.dialect,
                mapping=numeric_mapping(self._config),
                zone=self._config.text("db.timezone") or "UTC",
            )
            for relation, columns in zip(relations, described, strict=True)
        ]

    def _before(self) -> datetime | None:
        if not self._mode.has_time:
            return None
        delay = self._config.integer("timestamp.delay.interval.ms")
        return self._now() - timedelta(milliseconds=delay)

    def _now(self) -> datetime:
        row = self._database.first_rows([self._database.dialect.now])[0]
        if row is None or row[0] is None:
            raise ConnectorError("the database does not say what time it is")
        now = datetime.fromisoformat(row[0])
        return (now if now.tzinfo else now.replace(tzinfo=UTC)).astimezone(UTC)

    def _initial(self) -> TableOffset | None:
        initial = self._config["timestamp.initial"]
        if initial is None or not self._mode.has_time:
            return None
        if initial == -1:
            return TableOffset(None, self._now())
        return TableOffset.of({"timestamp": initial})

    def _select(self, relation: Relation, columns: Columns) -> str:
        names = ", ".join(map(self._name, columns.names))
        return f"SELECT {names} FROM {relation.source}{self._suffix()}"

    def _suffix(self) -> str:
        suffix = self._config.text("query.suffix")
        return f" {suffix}" if suffix else ""

    def _name(self, name: str) -> str:
        if self._config.text("quote.sql.identifiers") == "never":
            return name
        return self._database.dialect.quoted(name)


def _writes_no_schemas(properties: Mapping[str, str]) -> bool:
    return (
        properties.get("value.converter", "").endswith("JsonConverter")
        and properties.get("value.converter.schemas.enable", "").lower() == "false"
    )
