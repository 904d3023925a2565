"""The columns that records are written to: which ones, what they hold, and the SQL of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.jdbc.sink_settings import KeyMode
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import field_of, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.config import Values
    from headwater.connect.data.shape import Shape

_KAFKA = ("__connect_topic", "__connect_partition", "__connect_offset")


@dataclass(frozen=True, slots=True)
class RowColumn:
    """A column of the table, and the Spark SQL of its value in a record."""

    name: str
    schema: Schema
    value: str

    @property
    def sql(self) -> str:
        """The value as JDBC takes it: a time of day goes as a text."""
        if self.schema.logical == connect.TIME:
            return f"date_format(timestamp_millis({self.value}), 'HH:mm:ss.SSS')"
        return self.value


@dataclass(frozen=True, slots=True)
class RowColumns:
    """All columns: those of the key, and the others."""

    key: tuple[RowColumn, ...]
    others: tuple[RowColumn, ...]
    refused: str
    """The Spark SQL of why a record cannot be written; null if it can."""

    @property
    def all(self) -> tuple[RowColumn, ...]:
        """The others first, so that the key is last, where the statements have it."""
        return (*self.others, *self.key)


def row_columns(shape: Shape, config: Values) -> RowColumns:
    """Return the columns for records of a shape; raises ConnectorError if there cannot be any."""
    mode, names = KeyMode(config.text("pk.mode") or ""), config.words("pk.fields")
    deletes = config.boolean("delete.enabled")
    key = _key(mode, names, shape)
    value = shape.value
    if value is None or value.type is not Type.STRUCT:
        raise ConnectorError(
            "the records' values have to be structs with a schema, to become rows; use a converter "
            "with schemas, such as Avro or JSON with schemas.enable=true"
        )
    wanted = set(config.words("fields.whitelist")) or {each.name for each in value.fields}
    keys = {column.name for column in key}
    others = [
        RowColumn(each.name, each.schema, field_of("value", each.name))
        for each in value.fields
        if each.name in wanted and each.name not in keys
    ]
    reasons = [_missing_key(mode, key)]
    if not deletes:
        reasons.append(
            "CASE WHEN value IS NULL THEN 'a record has no value; delete.enabled=true with "
            "pk.mode=record_key deletes its row' END"
        )
    return RowColumns(tuple(key), tuple(others), f"coalesce({', '.join(reasons)})")


def _key(mode: KeyMode, names: Sequence[str], shape: Shape) -> list[RowColumn]:
    match mode:
        case KeyMode.NONE:
            return []
        case KeyMode.KAFKA:
            of = ((Type.STRING, "_topic"), (Type.INT32, "_partition"), (Type.INT64, "_offset"))
            return [
                RowColumn(name, Schema(type_), column)
                for name, (type_, column) in zip(names or _KAFKA, of, strict=True)
            ]
        case KeyMode.RECORD_HEADER:
            return [RowColumn(name, Schema(Type.STRING), _header(name)) for name in names]
        case KeyMode.RECORD_VALUE:
            return _fields("value", shape.value, names)
        case KeyMode.RECORD_KEY:
            return _record_key(shape.key, names)


def _record_key(schema: Schema | None, names: Sequence[str]) -> list[RowColumn]:
    if schema is not None and schema.type is Type.STRUCT:
        return _fields("key", schema, names)
    if schema is None or not schema.type.is_primitive:
        raise ConnectorError(
            "pk.mode=record_key needs keys with a schema, a struct or a single value; set "
            "key.converter, or make a key with the transforms ValueToKey and ExtractField"
        )
    if len(names) != 1:
        raise ConnectorError(
            f"the records' keys are of the type {schema.type}: pk.fields has to be the one name of "
            "their column"
        )
    return [RowColumn(names[0], schema, "key")]


def _fields(side: str, schema: Schema | None, names: Sequence[str]) -> list[RowColumn]:
    if schema is None or schema.type is not Type.STRUCT:
        raise ConnectorError(f"pk.mode=record_{side} needs a {side} that is a struct with a schema")
    columns = []
    for name in names or [each.name for each in schema.fields]:
        found = schema.field(name)
        if found is None:
            there = ", ".join(each.name for each in schema.fields)
            raise ConnectorError(f"pk.fields: the {side} has no field {name}; it has {there}")
        columns.append(RowColumn(name, found.schema, field_of(side, name)))
    return columns


def _header(name: str) -> str:
    found = f"filter(headers, h -> h.key = {text(name)})"
    return f"CAST(element_at({found}, -1).value AS STRING)"


def _missing_key(mode: KeyMode, key: Sequence[RowColumn]) -> str:
    if mode in (KeyMode.NONE, KeyMode.KAFKA) or not key:
        return "CAST(NULL AS STRING)"
    missing = " OR ".join(f"({column.value}) IS NULL" for column in key)
    names = ", ".join(column.name for column in key)
    return f"CASE WHEN {missing} THEN {text(f'a record has no {names} for its primary key')} END"
