"""What a source reads from: tables that are chosen by name, or a query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.jdbc.progress import Progress
from headwater.connect.connectors.jdbc.settings import time_zone
from headwater.connect.connectors.jdbc.source_settings import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from headwater.config import Values
    from headwater.connect.connectors.jdbc.dialects.dialect import Dialect
    from headwater.connect.connectors.jdbc.table import Column, TableId


@dataclass(frozen=True, slots=True)
class Relation:
    """A table or a query: `source` stands behind FROM, `schema_name` is that of its records."""

    name: str
    schema_name: str | None
    source: str
    topic: str
    partition: Mapping[str, object]

    @property
    def description(self) -> str:
        """The query that has its columns and no rows."""
        return f"SELECT * FROM {self.source} WHERE 1 = 0"


def table_relation(table: TableId, config: Values, name_of: Callable[[str], str]) -> Relation:
    """Return a table as it is read, with Confluent's name for its source partition."""
    return Relation(
        str(table),
        table.name,
        ".".join(map(name_of, table.parts)),
        f"{config.text('topic.prefix') or ''}{table.name}",
        {"protocol": "1", "table": str(table)},
    )


def query_relation(config: Values) -> Relation:
    """Return the query as it is read."""
    query = (config.text("query") or "").strip().rstrip(";")
    topic = config.text("topic.prefix") or ""
    return Relation("the query", None, f"({query}) headwater_rows", topic, {"query": "query"})


def chosen(tables: Iterable[TableId], config: Values) -> list[TableId]:
    """Return the tables that are to be read, in the order of their names."""
    white, black = set(config.words("table.whitelist")), set(config.words("table.blacklist"))
    include, exclude = config.words("table.include.list"), config.words("table.exclude.list")

    def is_chosen(table: TableId) -> bool:
        names = {str(table), table.name}
        return (
            (not white or bool(names & white))
            and not names & black
            and (not include or _matches(table, include))
            and not _matches(table, exclude)
        )

    return sorted(filter(is_chosen, tables), key=str)


def progress_of(
    relation: Relation,
    columns: Sequence[Column],
    config: Values,
    dialect: Dialect,
    name_of: Callable[[str], str],
) -> Progress:
    """Return how news is found in a relation; raises ConnectorError if its columns do not serve."""
    mode = Mode(config.text("mode") or "")
    by_name = {column.name.lower(): column for column in columns}
    number = _number(relation, by_name, config) if mode.has_number else None
    times = _times(relation, by_name, config) if mode.has_time else []
    if config.boolean("validate.non.null"):
        _refuse_nulls(relation, [*([number] if number else []), *_all_null(times)])
    zone: tzinfo = time_zone(config)
    if times and dialect.is_instant(times[0]):
        zone = UTC
    names = [name_of(each.name) for each in times]
    time = f"COALESCE({', '.join(names)})" if len(names) > 1 else "".join(names) or None
    return Progress(dialect, relation.source, name_of(number.name) if number else None, time, zone)


def _matches(table: TableId, patterns: Sequence[str]) -> bool:
    return any(re.fullmatch(pattern, str(table)) for pattern in patterns)


def _number(relation: Relation, columns: Mapping[str, Column], config: Values) -> Column:
    given = config.text("incrementing.column.name")
    if given:
        return _column(relation, columns, given, "incrementing.column.name")
    counted = [column for column in columns.values() if column.is_counted]
    if len(counted) == 1:
        return counted[0]
    raise ConnectorError(
        f"{relation.name} has {len(counted)} columns that the database counts up by itself; name "
        "one with incrementing.column.name"
    )


def _times(relation: Relation, columns: Mapping[str, Column], config: Values) -> list[Column]:
    names = config.words("timestamp.column.name")
    return [_column(relation, columns, name, "timestamp.column.name") for name in names]


def _column(relation: Relation, columns: Mapping[str, Column], name: str, of: str) -> Column:
    # In a query's configuration the name may have its table's before it.
    found = columns.get(name.lower()) or columns.get(name.rpartition(".")[2].lower())
    if found is None:
        there = ", ".join(column.name for column in columns.values())
        raise ConnectorError(f"{of}: {relation.name} has no column {name}; it has {there}")
    return found


def _all_null(times: Sequence[Column]) -> list[Column]:
    # Of several, one that is never null is enough.
    return [] if any(not column.is_nullable for column in times) else list(times[:1])


def _refuse_nulls(relation: Relation, columns: Sequence[Column]) -> None:
    for column in columns:
        if column.is_nullable:
            raise ConnectorError(
                f"{relation.name}.{column.name} may be null, and rows where it is would not be "
                "seen; declare it NOT NULL, or set validate.non.null=false"
            )
