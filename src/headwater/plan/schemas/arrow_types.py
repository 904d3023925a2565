"""Types from Arrow's, which is what the serialisers turn registered schemas into."""

from __future__ import annotations

import pyarrow as pa

from headwater.plan.schemas.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTERVAL,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
    TypeTextError,
)

_PRIMITIVES = {
    pa.null(): VOID, pa.bool_(): BOOLEAN, pa.int8(): TINYINT, pa.int16(): SMALLINT,
    pa.int32(): INT, pa.int64(): BIGINT, pa.float32(): FLOAT, pa.float64(): DOUBLE,
    pa.string(): STRING, pa.large_string(): STRING, pa.binary(): BINARY, pa.date32(): DATE,
}  # fmt: skip


def from_arrow(type_: pa.DataType) -> DataType:
    """Return the type under Spark's name."""
    if type_ in _PRIMITIVES:
        return _PRIMITIVES[type_]
    if pa.types.is_timestamp(type_):
        return TIMESTAMP if type_.tz is not None else TIMESTAMP_NTZ
    if pa.types.is_time(type_):
        return TIME
    if pa.types.is_duration(type_):
        return INTERVAL
    if pa.types.is_decimal(type_):
        return Decimal(type_.precision, type_.scale)
    if pa.types.is_list(type_):
        return Array(from_arrow(type_.value_type))
    if pa.types.is_map(type_):
        return Map(from_arrow(type_.key_type), from_arrow(type_.item_type))
    if pa.types.is_struct(type_):
        return Struct(tuple(Field(field.name, from_arrow(field.type)) for field in type_))
    raise TypeTextError(f"Spark has no type for Arrow's {type_}")
