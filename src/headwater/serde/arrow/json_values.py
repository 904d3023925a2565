"""JSON values between Python and Arrow: open ones as text, absent ones as null.

A shape is None where values are right as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pyarrow as pa

from headwater.serde.arrow.json_types import ANY
from headwater.serde.formats.json import decode_json, encode_json

Shape: TypeAlias = Callable[[Any], Any] | None

_BEYOND_DOUBLES = 2**1023


def reading_shape(of: pa.DataType) -> Shape:
    """Return what makes Arrow's values of parsed JSON."""
    return _shape(of, lambda value: encode_json(value).decode(), _read_struct)


def widening_shape(of: pa.DataType) -> Shape:
    """Return what makes doubles of whole numbers that Arrow finds too large to be exact ones."""
    return _shape(of, lambda value: value, _read_struct, _widened)


def writing_shape(of: pa.DataType) -> Shape:
    """Return what makes JSON of Arrow's values; a field without a value is left out."""
    return _shape(of, lambda text: decode_json(text.encode()), _write_struct)


def _shape(
    of: pa.DataType,
    anything: Callable[[Any], Any],
    struct: Callable[[dict[str, Shape]], Shape],
    double: Shape = None,
) -> Shape:
    if of == ANY:
        return anything
    if pa.types.is_floating(of):
        return double
    if pa.types.is_struct(of):
        return struct({field.name: _shape(field.type, anything, struct, double) for field in of})
    if pa.types.is_map(of):
        value = _shape(of.item_type, anything, struct, double)
        return lambda entries: {key: _applied(value, each) for key, each in dict(entries).items()}
    if pa.types.is_list(of):
        item = _shape(of.value_type, anything, struct, double)
        return None if item is None else lambda items: [_applied(item, each) for each in items]
    return None


def _read_struct(fields: dict[str, Shape]) -> Shape:
    shaped = {name: shape for name, shape in fields.items() if shape is not None}
    if not shaped:
        return None

    def shape(record: dict[str, Any]) -> dict[str, Any]:
        return {
            name: _applied(shaped.get(name), value)
            for name, value in record.items()
            if name in fields
        }

    return shape


def _write_struct(fields: dict[str, Shape]) -> Shape:
    def shape(record: dict[str, Any]) -> dict[str, Any]:
        return {
            name: _applied(fields[name], value)
            for name, value in record.items()
            if value is not None
        }

    return shape


def _applied(shape: Shape, value: Any) -> Any:
    return value if value is None or shape is None else shape(value)


def _widened(value: Any) -> Any:
    return float(value) if type(value) is int and abs(value) < _BEYOND_DOUBLES else value
