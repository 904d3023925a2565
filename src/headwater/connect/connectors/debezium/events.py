"""Changes as the records of their topics, whole batches of them, as Arrow's tables."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.debezium.arrow_types import arrow_type
from headwater.connect.connectors.debezium.change import Change, Op
from headwater.connect.connectors.debezium.envelope import (
    HEARTBEAT_KEY,
    HEARTBEAT_VALUE,
    envelope_schema,
    key_schema,
    schema_change_schemas,
)
from headwater.connect.data.shape import Shape

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from headwater.connect.connectors.debezium.change import SchemaChange
    from headwater.connect.connectors.debezium.table import Column, Row, Table
    from headwater.connect.data.schema import Schema


class Records(NamedTuple):
    """Records of one topic: its name, keys and values, in their order."""

    columns: pa.Table
    shape: Shape


def change_events(changes: Sequence[Change], source: Schema, *, tombstones: bool) -> list[Records]:
    """Return the events of each table, in the order in which each table was changed first.

    A table that was altered in between is there twice. A row whose key has changed is one that was
    deleted and another that was created; tombstones follow deletes.
    """
    tables: dict[int, tuple[Table, list[Change]]] = {}
    for change in changes:
        tables.setdefault(id(change.table), (change.table, []))[1].append(change)
    return [
        _of_table(table, list(_told(table, found, tombstones=tombstones)), source)
        for table, found in tables.values()
    ]


def schema_change_events(
    changes: Sequence[SchemaChange], topic: str, connector: str, source: Schema
) -> Records:
    """Return the statements that changed tables, which go to a topic of their own."""
    key, value = schema_change_schemas(connector, source)
    now = time.time_ns() // 1_000_000
    names = [field.name for field in source.fields]
    rows = [
        {
            "topic": topic,
            "key": {"databaseName": each.database},
            "value": {
                "source": dict(zip(names, each.source, strict=True)),
                "ts_ms": now,
                "databaseName": each.database,
                "ddl": each.ddl,
            },
        }
        for each in changes
    ]
    return _plain(rows, Shape(key, value))


def heartbeats(topic: str, prefix: str, count: int = 1) -> Records:
    """Return a record that tells that all is well; a count of 0 is for an offset alone."""
    row = {
        "topic": topic,
        "key": {"serverName": prefix},
        "value": {"ts_ms": time.time_ns() // 1_000_000},
    }
    return _plain([row] * count, Shape(HEARTBEAT_KEY, HEARTBEAT_VALUE))


def _told(
    table: Table, changes: Iterable[Change], *, tombstones: bool
) -> Iterable[tuple[Row | None, Change | None]]:
    """Yield the row that has each event's key, and the event; without one it is a tombstone."""
    for change in changes:
        before, after = change.before, change.after
        if before is not None and after is not None and table.key_of(before) != table.key_of(after):
            yield before, change._replace(op=Op.DELETE, after=None)
            if tombstones:
                yield before, None
            yield after, change._replace(op=Op.CREATE, before=None)
            continue
        yield (before if after is None else after), change
        if change.op is Op.DELETE and tombstones and table.key:
            yield before, None


def _of_table(
    table: Table, told: Sequence[tuple[Row | None, Change | None]], source: Schema
) -> Records:
    shape = Shape(key_schema(table), envelope_schema(table, source))
    changes = [change for _, change in told]
    count = len(told)
    columns: dict[str, Any] = {"topic": pa.repeat(pa.scalar(table.topic), count)}
    if shape.key is not None:
        columns["key"] = _structs(table, table.key, [row for row, _ in told])
    now = time.time_ns()
    values = {
        "before": _structs(table, table.columns, [c and c.before for c in changes]),
        "after": _structs(table, table.columns, [c and c.after for c in changes]),
        "source": _sources([c and c.source for c in changes], source),
        "op": pa.array([c and c.op.value for c in changes], pa.string()),
        "ts_ms": pa.repeat(pa.scalar(now // 1_000_000, pa.int64()), count),
        "ts_us": pa.repeat(pa.scalar(now // 1000, pa.int64()), count),
        "ts_ns": pa.repeat(pa.scalar(now, pa.int64()), count),
    }
    assert shape.value is not None
    arrays = [
        values[field.name] if field.name in values else pa.nulls(count, arrow_type(field.schema))
        for field in shape.value.fields
    ]
    columns["value"] = _struct(shape.value, arrays, [c is None for c in changes])
    return Records(pa.table(columns), shape)


def _structs(table: Table, columns: Sequence[Column], rows: Sequence[Row | None]) -> pa.StructArray:
    fields = [(each.name, arrow_type(each.schema)) for each in columns]
    arrays = [
        _array(table, column, rows, type_)
        for column, (_, type_) in zip(columns, fields, strict=True)
    ]
    missing = [row is None for row in rows]
    if not arrays:
        return pa.array([None if absent else {} for absent in missing], pa.struct([]))
    return pa.StructArray.from_arrays(
        arrays, fields=[pa.field(*each) for each in fields], mask=pa.array(missing, pa.bool_())
    )


def _array(
    table: Table, column: Column, rows: Sequence[Row | None], type_: pa.DataType
) -> pa.Array:
    place, convert, absent = column.place, column.convert, column.absent
    raw = [None if row is None else row[place] for row in rows]
    try:
        if convert is not None:
            raw = [None if value is None else convert(value) for value in raw]
        if absent is not None:
            raw = [absent if value is None else value for value in raw]
        return pa.array(raw, type_)
    except (ValueError, OverflowError, TypeError, pa.ArrowException) as failure:
        raise ConnectorError(
            f"{table}.{column.name} has a value that is no {column.schema.name or type_}: "
            f"{failure}; leave the column out with column.exclude.list, or have it written in "
            "another way (decimal.handling.mode, bigint.unsigned.handling.mode)"
        ) from failure


def _sources(sources: Sequence[Row | None], schema: Schema) -> pa.StructArray:
    empty: Row = (None,) * len(schema.fields)
    by_field = zip(*(source or empty for source in sources), strict=True)
    arrays = [
        pa.array(values, arrow_type(field.schema))
        for field, values in zip(schema.fields, by_field, strict=True)
    ]
    return _struct(schema, arrays, [source is None for source in sources])


def _struct(schema: Schema, arrays: Sequence[pa.Array], missing: Sequence[bool]) -> pa.StructArray:
    names = [field.name for field in schema.fields]
    return pa.StructArray.from_arrays(arrays, names, mask=pa.array(missing, pa.bool_()))


def _plain(rows: Sequence[dict[str, Any]], shape: Shape) -> Records:
    assert shape.key is not None
    assert shape.value is not None
    types = [("topic", pa.string()), ("key", arrow_type(shape.key))]
    types.append(("value", arrow_type(shape.value)))
    return Records(pa.Table.from_pylist(list(rows), pa.schema(types)), shape)
