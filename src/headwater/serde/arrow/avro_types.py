"""Avro's types as Arrow's, as Spark sees them too.

Of a union, null makes the rest nullable, `int` with `long` is a long and `float` with `double` a
double; what remains of several branches becomes a struct of `member0`, `member1`, ... of which
one is set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

from headwater.serde.errors import SchemaError

_PRIMITIVES = {
    "null": pa.null(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "bytes": pa.binary(),
    "string": pa.string(),
    "enum": pa.string(),
    "fixed": pa.binary(),
}
# What a number means. First in the unit that was written, then in the one that Spark knows.
_LOGICAL = {
    ("int", "date"): (pa.date32(), pa.date32()),
    ("int", "time-millis"): (pa.time32("ms"), pa.time64("us")),
    ("long", "time-micros"): (pa.time64("us"), pa.time64("us")),
    ("long", "timestamp-millis"): (pa.timestamp("ms", "UTC"), pa.timestamp("us", "UTC")),
    ("long", "timestamp-micros"): (pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
    ("long", "local-timestamp-millis"): (pa.timestamp("ms"), pa.timestamp("us")),
    ("long", "local-timestamp-micros"): (pa.timestamp("us"), pa.timestamp("us")),
}
_WIDENED = ({"int", "long"}, "long"), ({"float", "double"}, "double")
_MAX_DECIMAL_DIGITS = 38


class AvroType(NamedTuple):
    """A type: as Avro writes it, what that means in Avro's unit, and what it is shown as."""

    raw: pa.DataType
    physical: pa.DataType
    logical: pa.DataType

    @classmethod
    def plain(cls, of: pa.DataType) -> AvroType:
        """Return a type that is the same in all respects."""
        return cls(of, of, of)


def avro_type(schema: Any) -> AvroType:
    """Return the type of a parsed schema; raises SchemaError where it refers to itself."""
    return _type(schema, named_types(schema), ())


def branches(union: list[Any]) -> list[Any]:
    """Return what a union has besides null, with int or float widened away."""
    rest = [branch for branch in union if branch != "null"]
    for narrow_and_wide, wide in _WIDENED:
        if len(rest) == 2 and {_plain(branch) for branch in rest} == narrow_and_wide:
            return [wide]
    return rest


def is_decimal(schema: Any) -> bool:
    """Say whether bytes or a fixed are a decimal number that Arrow can hold."""
    return (
        isinstance(schema, dict)
        and schema.get("logicalType") == "decimal"
        and schema.get("type") in ("bytes", "fixed")
        and isinstance(schema.get("precision"), int)
        and schema["precision"] <= _MAX_DECIMAL_DIGITS
    )


def named_types(schema: Any, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the records, enums and fixed that a parsed schema defines, by their full names."""
    known = {} if known is None else known
    if isinstance(schema, list):
        for branch in schema:
            named_types(branch, known)
    elif isinstance(schema, dict):
        if isinstance(schema.get("name"), str) and isinstance(schema.get("type"), str):
            known[schema["name"]] = schema
        for field in schema.get("fields", ()):
            named_types(field["type"], known)
        for inner in ("items", "values"):
            if inner in schema:
                named_types(schema[inner], known)
        if isinstance(schema.get("type"), dict | list):
            named_types(schema["type"], known)
    return known


def _type(schema: Any, known: dict[str, Any], around: tuple[str, ...]) -> AvroType:
    if isinstance(schema, list):
        return _union(schema, known, around)
    if isinstance(schema, str):
        if schema in _PRIMITIVES:
            return AvroType.plain(_PRIMITIVES[schema])
        return _type(known[schema], known, around)
    kind = schema["type"]
    if kind in ("record", "error"):
        return _record(schema, known, around)
    if kind == "array":
        return AvroType(*map(pa.list_, _type(schema["items"], known, around)))
    if kind == "map":
        values = _type(schema["values"], known, around)
        return AvroType(*(pa.map_(pa.string(), each) for each in values))
    if is_decimal(schema):
        return AvroType.plain(pa.decimal128(schema["precision"], schema.get("scale", 0)))
    if isinstance(kind, str):
        if (kind, schema.get("logicalType")) in _LOGICAL:
            return AvroType(_PRIMITIVES[kind], *_LOGICAL[kind, schema["logicalType"]])
        if kind in _PRIMITIVES:
            return AvroType.plain(_PRIMITIVES[kind])
    return _type(kind, known, around)


def _record(schema: Any, known: dict[str, Any], around: tuple[str, ...]) -> AvroType:
    name = schema["name"]
    if name in around:
        raise SchemaError(
            f"the record {name} contains itself, which no column can: its depth is not known "
            "before it is read. Decode it one by one, or read it with a schema without that field."
        )
    return _struct(
        [(each["name"], _type(each["type"], known, (*around, name))) for each in schema["fields"]]
    )


def _union(union: list[Any], known: dict[str, Any], around: tuple[str, ...]) -> AvroType:
    rest = branches(union)
    if not rest:
        return AvroType.plain(pa.null())
    if len(rest) == 1:
        return _type(rest[0], known, around)
    return _struct(
        [(f"member{index}", _type(branch, known, around)) for index, branch in enumerate(rest)]
    )


def _struct(fields: list[tuple[str, AvroType]]) -> AvroType:
    names = [name for name, _ in fields]
    return AvroType(
        *(
            pa.struct(list(zip(names, [each[form] for _, each in fields], strict=True)))
            for form in range(3)
        )
    )


def _plain(schema: Any) -> str | None:
    return schema if isinstance(schema, str) else None
