"""Protobuf's types as Arrow's.

A field without presence has its default instead of null. Unsigned numbers take the next larger
signed type, enums are their names, Timestamp and Duration what they are, the wrappers nullable,
and Struct, Value and ListValue a string of JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor

from headwater.serde.errors import SchemaError

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

SCALARS = {
    FieldDescriptor.TYPE_DOUBLE: pa.float64(),
    FieldDescriptor.TYPE_FLOAT: pa.float32(),
    FieldDescriptor.TYPE_INT32: pa.int32(),
    FieldDescriptor.TYPE_SINT32: pa.int32(),
    FieldDescriptor.TYPE_SFIXED32: pa.int32(),
    FieldDescriptor.TYPE_UINT32: pa.int64(),
    FieldDescriptor.TYPE_FIXED32: pa.int64(),
    FieldDescriptor.TYPE_INT64: pa.int64(),
    FieldDescriptor.TYPE_SINT64: pa.int64(),
    FieldDescriptor.TYPE_SFIXED64: pa.int64(),
    # Beyond what a signed number of 64 bits holds; Arrow's own unsigned one is unknown to Spark.
    FieldDescriptor.TYPE_UINT64: pa.decimal128(20, 0),
    FieldDescriptor.TYPE_FIXED64: pa.decimal128(20, 0),
    FieldDescriptor.TYPE_BOOL: pa.bool_(),
    FieldDescriptor.TYPE_STRING: pa.string(),
    FieldDescriptor.TYPE_BYTES: pa.binary(),
    FieldDescriptor.TYPE_ENUM: pa.string(),
}
TIMESTAMP = "google.protobuf.Timestamp"
DURATION = "google.protobuf.Duration"
WRAPPERS = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
JSON = frozenset(f"google.protobuf.{name}" for name in ("Struct", "Value", "ListValue"))


def message_type(message: Descriptor, around: tuple[str, ...] = ()) -> pa.DataType:
    """Return a message's type; raises SchemaError where it contains itself."""
    name = message.full_name
    if name == TIMESTAMP:
        return pa.timestamp("us", "UTC")
    if name == DURATION:
        return pa.duration("us")
    if name in WRAPPERS:
        return SCALARS[message.fields_by_name["value"].type]
    if name in JSON:
        return pa.string()
    if name in around:
        raise SchemaError(
            f"the message {name} contains itself, which no column can: its depth is not known "
            "before it is read. Decode it one by one, or read it with a schema without that field."
        )
    return pa.struct([(field.name, field_type(field, (*around, name))) for field in message.fields])


def field_type(field: FieldDescriptor, around: tuple[str, ...] = ()) -> pa.DataType:
    """Return a field's type."""
    if is_map(field):
        key, value = entry_of(field)
        return pa.map_(element_type(key), element_type(value, around))
    item = element_type(field, around)
    return pa.list_(item) if field.is_repeated else item


def element_type(field: FieldDescriptor, around: tuple[str, ...] = ()) -> pa.DataType:
    """Return the type of one value of a field."""
    if field.message_type is not None:
        return message_type(field.message_type, around)
    return SCALARS[field.type]


def is_map(field: FieldDescriptor) -> bool:
    """Say whether a field is a map; its entries are messages of a hidden type."""
    entry = field.message_type
    return entry is not None and entry.GetOptions().map_entry


def entry_of(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """Return a map's key and value."""
    assert field.message_type is not None, "a map's entries are messages"
    fields = field.message_type.fields_by_name
    return fields["key"], fields["value"]
