"""Connect's schemas as Avro's, with Confluent's marks for what Avro has no word for, and back."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from string import digits
from typing import TYPE_CHECKING, Any

from headwater.connect.converters.json_schemas import json_value, python_value
from headwater.connect.data import schema as connect
from headwater.connect.data.schema import Field, Schema, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFAULT_NAME = "io.confluent.connect.avro.ConnectDefault"
"""The name of a struct that has none; a number follows, as a name is there once in a schema."""
_ANY_PRECISION = 64
"""The precision that Confluent writes for a decimal without one."""
_PRIMITIVES = {
    Type.INT8: "int",
    Type.INT16: "int",
    Type.INT32: "int",
    Type.INT64: "long",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BOOLEAN: "boolean",
    Type.STRING: "string",
    Type.BYTES: "bytes",
}
_LOGICAL = {
    connect.DATE: "date",
    connect.TIME: "time-millis",
    connect.TIMESTAMP: "timestamp-millis",
}
_PARTS = ("type", "items", "values", "fields")
_BY_AVRO = {
    "int": Type.INT32,
    "long": Type.INT64,
    "float": Type.FLOAT32,
    "double": Type.FLOAT64,
    "boolean": Type.BOOLEAN,
    "string": Type.STRING,
    "bytes": Type.BYTES,
    "enum": Type.STRING,
    "fixed": Type.BYTES,
}
_BY_LOGICAL = {
    "date": connect.date,
    "time-millis": connect.time,
    "timestamp-millis": connect.timestamp,
    "timestamp-micros": connect.timestamp,
}


def as_avro(schema: Schema, *, marks: bool = True) -> Any:
    """Return the Avro schema that Confluent's AvroConverter registers; without its marks if asked.

    >>> as_avro(Schema(Type.INT64, optional=True))
    ['null', 'long']
    """
    return _named_once(_maybe_null(schema, _names(), marks=marks), set())


def from_avro(found: Any, *, optional: bool = False) -> Schema:
    """Return Connect's schema of an Avro schema; raises ValueError for a union of several types."""
    return _from_avro(_spelled_out(found, {}), optional=optional)


def _from_avro(found: Any, *, optional: bool = False) -> Schema:
    if isinstance(found, list):
        others = [each for each in found if each != "null"]
        if len(others) != 1:
            raise ValueError(f"a union of several types has no schema of Connect's: {found}")
        return _from_avro(others[0], optional="null" in found)
    if isinstance(found, str):
        return Schema(_type(found), optional)
    return _marked(found, _unmarked(found, optional=optional))


def _named_once(found: Any, known: set[str]) -> Any:
    """Return a schema where a record is described once, and named where it stands again."""
    if isinstance(found, list):
        return [_named_once(each, known) for each in found]
    if not isinstance(found, dict):
        return found
    if found.get("type") == "record":
        name = _full_name(found)
        if name in known:
            return name
        known.add(name)
    return {key: _named_once(of, known) if key in _PARTS else of for key, of in found.items()}


def _spelled_out(found: Any, known: dict[str, Any]) -> Any:
    """Return a schema where a record is described wherever it stands."""
    if isinstance(found, list):
        return [_spelled_out(each, known) for each in found]
    if not isinstance(found, dict):
        return known.get(found, found)
    whole = {key: _spelled_out(of, known) if key in _PARTS else of for key, of in found.items()}
    if found.get("type") == "record":
        known[_full_name(found)] = whole
    return whole


def _full_name(record: dict[str, Any]) -> str:
    space = record.get("namespace")
    return f"{space}.{record['name']}" if space else str(record["name"])


def _names() -> Iterator[str]:
    yield _DEFAULT_NAME
    for number in count(2):
        yield f"{_DEFAULT_NAME}{number}"


def _maybe_null(schema: Schema, names: Iterator[str], *, marks: bool) -> Any:
    found = _avro(schema, names, marks=marks)
    return ["null", found] if schema.optional else found


def _avro(schema: Schema, names: Iterator[str], *, marks: bool) -> Any:
    base: dict[str, Any]
    match schema.type:
        case Type.STRUCT:
            base = _record(schema, names, marks=marks)
        case Type.ARRAY:
            assert schema.value is not None
            base = {"type": "array", "items": _maybe_null(schema.value, names, marks=marks)}
        case Type.MAP:
            base = _map(schema, names, marks=marks)
        case _:
            base = {"type": _PRIMITIVES[schema.type]}
    if schema.logical == connect.DECIMAL:
        precision = int(schema.parameters.get(connect.PRECISION, _ANY_PRECISION))
        base |= {"logicalType": "decimal", "scale": schema.scale}
        base["precision"] = precision if marks else min(precision, 38)
    elif schema.logical == connect.TIME:
        # Spark's own INT, whatever it is called.
        base |= {"logicalType": _LOGICAL[schema.logical]} if marks else {}
    elif schema.logical is not None:
        base["logicalType"] = _LOGICAL[schema.logical]
    if marks:
        base |= _marks(schema)
    return base["type"] if base.keys() == {"type"} else base


def _marks(schema: Schema) -> dict[str, Any]:
    marks: dict[str, Any] = {}
    if schema.type in (Type.INT8, Type.INT16):
        marks["connect.type"] = schema.type.value
    if schema.version is not None:
        marks["connect.version"] = schema.version
    if schema.doc is not None:
        marks["connect.doc"] = schema.doc
    if schema.parameters:
        marks["connect.parameters"] = dict(schema.parameters)
    if schema.default is not None:
        marks["connect.default"] = json_value(schema.default, schema)
    if schema.name is not None:
        marks["connect.name"] = schema.name
    return marks


def _record(schema: Schema, names: Iterator[str], *, marks: bool) -> dict[str, Any]:
    space, _, own = (schema.name or next(names)).rpartition(".")
    record: dict[str, Any] = {"type": "record", "name": own}
    if space:
        record["namespace"] = space
    record["fields"] = [_field(each, names, marks=marks) for each in schema.fields]
    return record


def _field(field: Field, names: Iterator[str], *, marks: bool) -> dict[str, Any]:
    made = _avro(field.schema, names, marks=marks)
    found: dict[str, Any] = {"name": field.name, "type": made}
    if field.schema.doc is not None and marks:
        found["doc"] = field.schema.doc
    default = field.schema.default
    if field.schema.optional:
        # Avro's default is of a union's first type.
        found["type"] = ["null", made] if default is None else [made, "null"]
        found["default"] = None
    if default is not None:
        found["default"] = _avro_default(default, field.schema)
    return found


def _avro_default(default: object, schema: Schema) -> Any:
    if schema.type is Type.BYTES:
        from headwater.connect.converters.json_schemas import unscaled_bytes

        raw = default if isinstance(default, bytes) else unscaled_bytes(default, schema.scale)  # type: ignore[arg-type]
        return raw.decode("latin-1")
    return json_value(default, schema)


def _map(schema: Schema, names: Iterator[str], *, marks: bool) -> dict[str, Any]:
    assert schema.key is not None
    assert schema.value is not None
    if schema.key.type is Type.STRING and not schema.key.optional:
        return {"type": "map", "values": _maybe_null(schema.value, names, marks=marks)}
    raise ValueError("a map whose keys are not text has no counterpart among Avro's types here")


def _unmarked(found: dict[str, Any], *, optional: bool) -> Schema:
    kind = found["type"]
    if isinstance(kind, dict | list):
        return _from_avro(kind, optional=optional)
    logical = found.get("logicalType")
    if logical == "decimal":
        precision = int(found["precision"])
        known = precision if precision != _ANY_PRECISION else None
        return connect.decimal(int(found.get("scale", 0)), known, optional=optional)
    if logical in _BY_LOGICAL:
        return _BY_LOGICAL[logical](optional=optional)
    match kind:
        case "record":
            name = _full_name(found)
            fields = tuple(map(_read_field, found["fields"]))
            named = None if name.rstrip(digits) == _DEFAULT_NAME else name
            return Schema(Type.STRUCT, optional, named, doc=found.get("doc"), fields=fields)
        case "array":
            return Schema(Type.ARRAY, optional, value=_from_avro(found["items"]))
        case "map":
            key = Schema(Type.STRING)
            return Schema(Type.MAP, optional, key=key, value=_from_avro(found["values"]))
    return Schema(_type(kind), optional)


def _read_field(found: dict[str, Any]) -> Field:
    schema = _from_avro(found["type"])
    default = found.get("default")
    if default is not None and schema.default is None and schema.type is not Type.BYTES:
        schema = replace(schema, default=python_value(default, schema))
    return Field(found["name"], schema)


def _marked(found: dict[str, Any], schema: Schema) -> Schema:
    kind = found.get("connect.type")
    if kind in (Type.INT8.value, Type.INT16.value):
        schema = replace(schema, type=Type(kind))
    schema = replace(
        schema,
        name=found.get("connect.name", schema.name),
        version=found.get("connect.version", schema.version),
        doc=found.get("connect.doc", schema.doc),
        parameters=dict(found.get("connect.parameters", schema.parameters)),
    )
    default = found.get("connect.default")
    return schema if default is None else replace(schema, default=python_value(default, schema))


def _type(kind: str) -> Type:
    if kind not in _BY_AVRO:
        raise ValueError(f"Avro's type {kind} is named before it is described, or twice")
    return _BY_AVRO[kind]
