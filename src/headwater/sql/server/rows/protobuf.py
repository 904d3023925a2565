"""Rows as Protobuf messages: in Protobuf's JSON mapping, and with a schema of their columns."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import math
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format

from headwater.plan.schemas import types as plan
from headwater.serde.formats.protobuf_codec import descriptor_of, load_bare_file
from headwater.spark.formats.protobuf_schema import protobuf_schema
from headwater.sql.errors import SqlError
from headwater.sql.planning.wire_types import forms_of, wire_type
from headwater.sql.server.rows.casting import EXACT
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import DATE, TIME, Array, Decimal, Map, SqlType, Struct

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor, FieldDescriptor
    from google.protobuf.message import Message

    from headwater.plan.schemas.types import DataType


_WELL_KNOWN: dict[DataType, str] = {
    plan.DATE: "google.type.Date",
    plan.TIME: "google.type.TimeOfDay",
}
_TIMES = {"google.type.Date": DATE, "google.type.TimeOfDay": TIME}


def schema_of(struct: Struct, message: str | None = None) -> str:
    """Return the text of a schema for columns, as Spark writes them; raises PlanError."""
    decimals = {"DECIMAL": forms_of("PROTOBUF")["DECIMAL"]}
    return protobuf_schema(to_plan(wire_type(struct, decimals)), message, _WELL_KNOWN)


def with_times(found: SqlType, message: Descriptor) -> SqlType:
    """Return the type of a message with dates and times of the day where it has Google's."""
    if message.full_name in _TIMES:
        return _TIMES[message.full_name]
    if not isinstance(found, Struct):
        return found
    parts = zip(found.fields, message.fields, strict=True)
    return Struct(tuple((name, _with_times(part, field)) for (name, part), field in parts))


def _with_times(found: SqlType, field: FieldDescriptor) -> SqlType:
    message = field.message_type
    if message is None:
        return found
    match found:
        case Array(element):
            return Array(with_times(element, message))
        case Map(key, value):
            return Map(key, _with_times(value, message.fields_by_name["value"]))
        case _:
            return with_times(found, message)


class BareMessages:
    """Messages of columns by their types alone, without a registry."""

    def __init__(self, struct: Struct) -> None:
        self._struct = struct
        self._class: type[Message] = load_bare_file(schema_of(struct)).class_named(None)

    def read(self, data: bytes) -> dict[str, Any]:
        """Return the fields of a message; raises ValueError."""
        message = self._class()
        try:
            message.ParseFromString(data)
        except Exception as failure:  # of a class that depends on the library's implementation
            raise ValueError(f"it is no message: {failure}") from failure
        return json_format.MessageToDict(
            message,
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
            descriptor_pool=descriptor_of(self._class).file.pool,
        )

    def write(self, columns: dict[str, Any]) -> bytes:
        """Return the bytes of a message with these fields; raises SqlError."""
        descriptor = descriptor_of(self._class)
        message = self._class()
        fields = message_json(columns, self._struct, descriptor)
        try:
            json_format.ParseDict(fields, message, descriptor_pool=descriptor.file.pool)
        except json_format.ParseError as failure:
            raise SqlError(f"Protobuf does not have it: {failure}") from failure
        return message.SerializeToString()


def message_json(value: Any, type_: SqlType, message: Descriptor | None) -> Any:
    """Return a value in the JSON mapping; fields that have other capitals keep theirs."""
    match value, type_:
        case None, _:
            return None
        case bytes(), _:
            return base64.b64encode(value).decode()
        case dt.datetime(), _:
            return value.isoformat()
        case dt.date(), _:
            return {"year": value.year, "month": value.month, "day": value.day}
        case dt.time(), _:
            return {
                "hours": value.hour, "minutes": value.minute, "seconds": value.second,
                "nanos": value.microsecond * 1000,
            }  # fmt: skip
        case decimal.Decimal(), Decimal(precision, scale):
            return _decimal(value, precision, scale)
        case float(), _ if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case list(), Array(element):
            return [message_json(item, element, message) for item in value]
        case dict(), Map(_, item):
            inside = None if message is None else _message(message.fields_by_name["value"])
            return {str(key): message_json(part, item, inside) for key, part in value.items()}
        case dict(), Struct(fields):
            return _fields(value, fields, message)
        case _:
            return value


def _fields(
    value: dict[str, Any], fields: tuple[tuple[str, SqlType], ...], message: Descriptor | None
) -> dict[str, Any]:
    known = {} if message is None else {field.name.upper(): field for field in message.fields}
    made = {}
    for name, part in fields:
        field = known.get(name.upper())
        inside = None if field is None else _message(field)
        made[name if field is None else field.name] = message_json(value.get(name), part, inside)
    return {name: part for name, part in made.items() if part is not None}


def _message(field: FieldDescriptor) -> Descriptor | None:
    return field.message_type


def _decimal(value: decimal.Decimal, precision: int, scale: int) -> dict[str, Any]:
    unscaled = int(value.scaleb(scale, EXACT))
    size = (unscaled if unscaled >= 0 else ~unscaled).bit_length() // 8 + 1
    data = unscaled.to_bytes(size, "big", signed=True)
    return {"value": base64.b64encode(data).decode(), "precision": precision, "scale": scale}
