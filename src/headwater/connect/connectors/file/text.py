"""Values as text, as Java prints Connect's: what the FileStream sink writes for each record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import field_of, text, unless_null

if TYPE_CHECKING:
    from headwater.connect.data.shape import Shape


def line_of(shape: Shape) -> str:
    """Return the SQL of a record's line.

    >>> from headwater.connect.data.shape import Shape
    >>> line_of(Shape(key=None, value=Schema(Type.STRING)))
    "coalesce(cast(value AS STRING), 'null')"
    """
    return f"coalesce({_text('value', shape.value)}, 'null')"


def _text(value: str, schema: Schema | None) -> str:
    match schema:
        case Schema(type=Type.STRUCT, fields=fields):
            # A field without a value is left out, as concat_ws leaves out nulls.
            parts = [
                f"concat({text(f'{each.name}=')}, {_text(field_of(value, each.name), each.schema)})"
                for each in fields
            ]
            inside = f"concat_ws(',', {', '.join(parts)})" if parts else "''"
            return unless_null(value, f"concat('Struct{{', {inside}, '}}')")
        case Schema(type=Type.ARRAY, value=Schema() as items):
            texts = f"transform({value}, x -> coalesce({_text('x', items)}, 'null'))"
            return f"concat('[', array_join({texts}, ', '), ']')"
        case Schema(type=Type.MAP, key=Schema() as keys, value=Schema() as values):
            entry = (
                f"concat({_text('x.key', keys)}, '=', coalesce({_text('x.value', values)}, 'null'))"
            )
            texts = f"transform(map_entries({value}), x -> {entry})"
            return f"concat('{{', array_join({texts}, ', '), '}}')"
        case _:
            return f"cast({value} AS STRING)"
