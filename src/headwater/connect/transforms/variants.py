"""Records without a schema: objects as maps of variants, and variants of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.connect.data.schema import Schema, Type
from headwater.connect.data.sql_text import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_MAP = "map<string,variant>"


def as_map(value: str) -> str:
    """Return an object as a map; null for what is none."""
    return f"try_cast(cast({value} as variant) as {_MAP})"


def to_variant(map_: str) -> str:
    """Return the object that a map describes; null stays null."""
    return f"to_variant_object({map_})"


def put(map_: str, values: Mapping[str, str]) -> str:
    """Return a map with further values, which are variants, in place of those of their names."""
    pairs = ", ".join(f"{text(name)}, {value}" for name, value in values.items())
    return f"map_concat({without(map_, values)}, map({pairs}))"


def without(map_: str, names: Iterable[str]) -> str:
    """Return a map without some of its keys."""
    return f"map_filter({map_}, (k, v) -> k not in ({', '.join(map(text, names))}))"


def entry(map_: str, name: str) -> str:
    """Return what a map has for a key: null for nothing, and for a null of JSON."""
    found = f"{map_}[{text(name)}]"
    return f"if(is_variant_null({found}), null, {found})"


def variant(value: str, schema: Schema | None = None) -> str:
    """Return a value of a schema's type as a variant."""
    if schema is not None and schema.type in (Type.STRUCT, Type.MAP, Type.ARRAY):
        return f"to_variant_object({value})"
    return f"cast({value} as variant)"


def no_map(value: str, purpose: str, *, null_is_well: bool = True) -> str:
    """Return the failure of records that are no objects."""
    message = f"Only Map objects supported in absence of schema for [{purpose}], found: "
    found = (
        f"concat({text(message)}, coalesce(schema_of_variant(cast({value} as variant)), 'null'))"
    )
    wrong = f"{as_map(value)} is null"
    if null_is_well:
        wrong = f"{wrong} and {value} is not null"
    return f"if({wrong}, {found}, null)"
