"""Protobuf messages into Arrow columns and back, a field of all messages at a time."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from google.protobuf import json_format
from google.protobuf.message_factory import GetMessageClass

from headwater.serde.arrow.protobuf_types import (
    DURATION,
    TIMESTAMP,
    WRAPPERS,
    element_type,
    entry_of,
    is_map,
    message_type,
)
from headwater.serde.errors import SerializationError
from headwater.serde.formats.json import decode_json, encode_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

_MICROS = 1_000_000


def column_of_messages(
    descriptor: Descriptor, messages: Sequence[Any], absent: Sequence[bool] | None
) -> pa.Array:
    """Return messages as an array; an absent one is null, whatever stands in its place."""
    mask = None if absent is None or not any(absent) else pa.array(absent, pa.bool_())
    name = descriptor.full_name
    wanted = message_type(descriptor)
    if pa.types.is_struct(wanted):
        if wanted.num_fields == 0:
            return pa.array(
                [None if absent and absent[i] else {} for i in range(len(messages))], wanted
            )
        children = [_field_column(field, messages) for field in descriptor.fields]
        return pa.StructArray.from_arrays(children, fields=list(wanted), mask=mask)
    convert = _value_of(name)
    gone = absent or [False] * len(messages)
    return pa.array(
        [None if no else convert(each) for no, each in zip(gone, messages, strict=True)], wanted
    )


def messages_of_column(descriptor: Descriptor, values: pa.Array) -> list[Any]:
    """Return an array's values as messages, None where it is null."""
    name = descriptor.full_name
    make = GetMessageClass(descriptor)
    if pa.types.is_struct(values.type):
        names = [field.name for field in descriptor.fields]
        columns = [
            _field_values(field, values.field(index))
            for index, field in enumerate(descriptor.fields)
        ]
        present = values.is_valid().to_pylist()
        rows: Iterable[tuple[Any, ...]] = (
            zip(*columns, strict=True) if columns else ((),) * len(values)
        )
        return [
            make(**dict(zip(names, row, strict=True))) if there else None
            for there, row in zip(present, rows, strict=True)
        ]
    if name in (TIMESTAMP, DURATION):
        plain = values.cast(pa.int64()).to_pylist()
        return [None if each is None else _time(make, each) for each in plain]
    if name in WRAPPERS:
        return [None if each is None else make(value=each) for each in values.to_pylist()]
    return [
        None if text is None else json_format.ParseDict(decode_json(text.encode()), make())
        for text in values.to_pylist()
    ]


def _value_of(well_known: str) -> Callable[[Any], Any]:
    if well_known in (TIMESTAMP, DURATION):
        return lambda each: each.seconds * _MICROS + each.nanos // 1000
    if well_known in WRAPPERS:
        return attrgetter("value")
    return lambda each: encode_json(json_format.MessageToDict(each)).decode()


def _field_column(field: FieldDescriptor, messages: Sequence[Any]) -> pa.Array:
    get = attrgetter(field.name)
    if is_map(field):
        return _map_column(field, [get(message) for message in messages])
    if field.is_repeated:
        return _list_column(field, [get(message) for message in messages])
    name = field.name
    if field.message_type is not None:
        absent = [not message.HasField(name) for message in messages]
        return column_of_messages(field.message_type, list(map(get, messages)), absent)
    values: Any = map(get, messages)
    if field.has_presence:
        values = (get(each) if each.HasField(name) else None for each in messages)
    return _scalars(field, values)


def _list_column(field: FieldDescriptor, lists: Sequence[Any]) -> pa.Array:
    offsets, items = [0], []
    for each in lists:
        items.extend(each)
        offsets.append(len(items))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), _elements(field, items))


def _map_column(field: FieldDescriptor, maps: Sequence[Any]) -> pa.Array:
    key_field, value_field = entry_of(field)
    offsets, keys, values = [0], [], []
    for each in maps:
        keys.extend(each)
        values.extend(each.values())
        offsets.append(len(keys))
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()),
        _scalars(key_field, keys),
        _elements(value_field, values),
    )


def _elements(field: FieldDescriptor, items: list[Any]) -> pa.Array:
    if field.message_type is not None:
        return column_of_messages(field.message_type, items, None)
    return _scalars(field, items)


def _scalars(field: FieldDescriptor, values: Iterable[Any]) -> pa.Array:
    if field.enum_type is not None:
        names = {number: each.name for number, each in field.enum_type.values_by_number.items()}
        # A number that this schema has no name for is from a newer one: it stays readable.
        values = [None if n is None else names.get(n) or str(n) for n in values]
    return pa.array(list(values), element_type(field))


def _field_values(field: FieldDescriptor, column: pa.Array) -> list[Any]:
    if is_map(field):
        return _map_values(field, column)
    if field.is_repeated:
        items = _element_values(field, column.values)
        return [None if not there else items[start:end] for there, start, end in _spans(column)]
    return _element_values(field, column)


def _map_values(field: FieldDescriptor, column: pa.Array) -> list[Any]:
    key_field, value_field = entry_of(field)
    keys = _element_values(key_field, column.keys)
    values = _element_values(value_field, column.items)
    return [
        dict(zip(keys[start:end], values[start:end], strict=True)) if there else None
        for there, start, end in _spans(column)
    ]


def _spans(column: pa.Array) -> Iterable[tuple[bool, int, int]]:
    offsets = column.offsets.to_pylist()
    return zip(column.is_valid().to_pylist(), offsets[:-1], offsets[1:], strict=True)


def _element_values(field: FieldDescriptor, column: pa.Array) -> list[Any]:
    if field.message_type is not None:
        return messages_of_column(field.message_type, column)
    values: list[Any] = column.to_pylist()
    if field.enum_type is not None:
        enum = field.enum_type
        return [None if each is None else _enum_number(enum, each) for each in values]
    if pa.types.is_decimal(column.type):
        return [None if each is None else int(each) for each in values]
    return values


def _enum_number(enum: EnumDescriptor, name: str) -> int:
    known = enum.values_by_name.get(name)
    if known is not None:
        return int(known.number)
    if name.lstrip("-").isdecimal():
        return int(name)
    raise SerializationError(
        f"the enum {enum.full_name} has no value '{name}'; it has {', '.join(enum.values_by_name)}"
    )


def _time(make: Any, micros: int) -> Any:
    seconds, rest = divmod(micros, _MICROS)
    if make.DESCRIPTOR.full_name == DURATION and seconds < 0 and rest:
        # Both parts of a duration have the same sign.
        seconds, rest = seconds + 1, rest - _MICROS
    return make(seconds=seconds, nanos=rest * 1000)
