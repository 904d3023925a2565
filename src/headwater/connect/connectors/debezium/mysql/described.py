"""Columns as the binlog describes them before the rows of a table."""

from __future__ import annotations

from typing import Any

from pymysqlreplication.constants import FIELD_TYPE  # type: ignore[import-untyped]

from headwater.connect.connectors.debezium.mysql.columns import Described

_KINDS = {
    FIELD_TYPE.TINY: "tinyint",
    FIELD_TYPE.SHORT: "smallint",
    FIELD_TYPE.INT24: "mediumint",
    FIELD_TYPE.LONG: "int",
    FIELD_TYPE.LONGLONG: "bigint",
    FIELD_TYPE.FLOAT: "float",
    FIELD_TYPE.DOUBLE: "double",
    FIELD_TYPE.NEWDECIMAL: "decimal",
    FIELD_TYPE.DATE: "date",
    FIELD_TYPE.TIME: "time",
    FIELD_TYPE.TIME2: "time2",
    FIELD_TYPE.DATETIME: "datetime",
    FIELD_TYPE.DATETIME2: "datetime",
    FIELD_TYPE.TIMESTAMP: "timestamp",
    FIELD_TYPE.TIMESTAMP2: "timestamp",
    FIELD_TYPE.YEAR: "year",
    FIELD_TYPE.BIT: "bit",
    FIELD_TYPE.ENUM: "enum",
    FIELD_TYPE.SET: "set",
    FIELD_TYPE.JSON: "json",
}
# Of each, the type for text and the one for bytes.
_TEXTS = {
    FIELD_TYPE.STRING: ("char", "binary"),
    FIELD_TYPE.VARCHAR: ("varchar", "varbinary"),
    FIELD_TYPE.VAR_STRING: ("varchar", "varbinary"),
    FIELD_TYPE.BLOB: ("text", "blob"),
}


def described_columns(event: Any) -> tuple[Described, ...]:
    """Return the columns of a TableMapEvent."""
    prefixes = event.optional_metadata.primary_keys_with_prefix or {}
    return tuple(
        _described(column, event.null_bitmask[number // 8] & 1 << number % 8, number in prefixes)
        for number, column in enumerate(event.columns)
    )


def _described(column: Any, null: int, is_prefix: bool) -> Described:
    kind = _KINDS.get(column.type, f"number {column.type}")
    if column.type in _TEXTS:
        kind = _TEXTS[column.type][column.character_set_name == "binary"]
    return Described(
        column.name,
        kind,
        bool(null),
        bool(column.is_primary or is_prefix),
        bool(column.unsigned),
        _of(column, "precision", "bits", "max_length"),
        _of(column, "decimals", "fsp"),
        tuple((column.enum_values or [])[1:] or column.set_values or ()),
    )


def _of(column: Any, *names: str) -> int:
    return next((int(getattr(column, name)) for name in names if hasattr(column, name)), 0)
