"""CREATE OR REPLACE: whether a stream or table may become another, by ksqlDB's rules.

What reads it goes on reading it, so that all of its columns have to stay where they are; there may
be more behind them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.tree.statements.creation import ColumnRole, SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.sql.location import Location
    from headwater.sql.metastore.formats import ChosenFormat
    from headwater.sql.metastore.source import DataSource, SourceColumn

_KINDS = {SourceKind.STREAM: "KSTREAM", SourceKind.TABLE: "KTABLE"}


def check_replacement(known: DataSource, new: DataSource, location: Location) -> None:
    """Refuse a replacement that is no upgrade."""
    kind = new.kind.value.lower()
    if known.is_source or new.is_source:
        raise SqlError(
            f"Cannot add {kind} '{new.name}': CREATE OR REPLACE is not supported on source "
            f"{kind}s.",
            location,
        )
    issues = [
        _issue(known, name, before, after)
        for name, before, after in (
            ("type", _KINDS[known.kind], _KINDS[new.kind]),
            ("topic", _topic(known), _topic(new)),
            ("timestampColumn", _timestamp(known), _timestamp(new)),
        )
        if before != after
    ]
    if reason := _changed_columns(known, new):
        before, after = _listed(known.columns), _listed(new.columns)
        issues.append(f"{_issue(known, 'schema', before, after)}. ({reason})")
    if issues:
        message = "\n\tAND ".join(issues)
        raise SqlError(f"Cannot upgrade data source: {message}", location)


def _issue(known: DataSource, name: str, before: str, after: str) -> str:
    return f"DataSource '`{known.name}`' has {name} = {before} which is not upgradeable to {after}"


def _topic(source: DataSource) -> str:
    """Return where a source's records are and how they are written, all of which has to stay."""
    window = ""
    if source.window is not None:
        size = "" if source.window.size_ms is None else f" of {source.window.size_ms} ms"
        window = f", windows={source.window.kind.value}{size}"
    wrapped = source.wrap_single_value
    wrapping = "" if wrapped is None else f", wrapSingleValue={str(wrapped).lower()}"
    return (
        f"KsqlTopic{{kafkaTopicName='{source.topic}', keyFormat={_format(source.key_format)}"
        f"{window}, valueFormat={_format(source.value_format)}{wrapping}}}"
    )


def _format(chosen: ChosenFormat) -> str:
    # A statement is kept with the columns of its schema, and without the schema's id.
    given = ", ".join(f"{name}={value}" for name, value in sorted(chosen.properties))
    return f"{chosen.name}({given})" if given else chosen.name


def _timestamp(source: DataSource) -> str:
    if source.timestamp is None:
        return "none"
    pattern = source.timestamp.pattern
    return f"`{source.timestamp.name}`" + ("" if pattern is None else f" as '{pattern}'")


def _changed_columns(known: DataSource, new: DataSource) -> str | None:
    if changed := _missing(known.key, new.key):
        return (
            "Key columns must be identical. The following key columns are changed, missing or "
            f"reordered: [{changed}]"
        )
    parts = ((known.key, new.key), (known.value, new.value), (_headers(known), _headers(new)))
    found = [changed for before, after in parts if (changed := _missing(before, after))]
    if not found:
        return None
    return f"The following columns are changed, missing or reordered: [{', '.join(found)}]"


def _headers(source: DataSource) -> tuple[SourceColumn, ...]:
    return tuple(column for column in source.columns if column.is_header)


def _missing(before: tuple[SourceColumn, ...], after: tuple[SourceColumn, ...]) -> str:
    """Name the columns that are not in the same place after."""
    there = {(place, _plain(column)) for place, column in enumerate(after)}
    return _listed(
        column for place, column in enumerate(before) if (place, _plain(column)) not in there
    )


def _plain(column: SourceColumn) -> SourceColumn:
    """Return a column whose key is called the same in streams and tables."""
    return replace(column, role=ColumnRole.KEY) if column.is_key else column


def _listed(columns: Iterable[SourceColumn]) -> str:
    return ", ".join(_written(column) for column in columns)


def _written(column: SourceColumn) -> str:
    role = "KEY" if column.is_key else column.role.value
    header = "" if column.header is None else f"('{column.header}')"
    return f"`{column.name}` {column.type}{role and ' ' + role}{header}"
