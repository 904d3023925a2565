"""Headers: their values as bytes, and lists of them, as expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.connect.data.sql_text import text
from headwater.connect.transforms.casts import as_text
from headwater.connect.transforms.transform import TransformError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.connect.data.header_format import HeaderFormat
    from headwater.connect.data.schema import Schema

_TYPE = "array<struct<key:string,value:binary>>"


def with_headers(added: Iterable[tuple[str, str]]) -> str:
    """Return the record's headers and further ones, given as names and bytes."""
    new = ", ".join(f"named_struct('key', {text(name)}, 'value', {of})" for name, of in added)
    return f"concat(coalesce(headers, cast(array() as {_TYPE})), cast(array({new}) as {_TYPE}))"


def without_headers(names: Iterable[str]) -> str:
    """Return the record's headers without those of some names."""
    return f"filter(headers, h -> h.key not in ({', '.join(map(text, names))}))"


def header_bytes(value: str, schema: Schema | None, headers: HeaderFormat) -> str:
    """Return a value as the connector's `header.converter` writes it; raises TransformError.

    SimpleHeaderConverter writes its text, or JSON for what has parts.
    """
    try:
        return headers.to_bytes(value, _shown(value, schema), schema)
    except ValueError as refusal:
        raise TransformError(f"header.converter: {refusal}") from None


def _shown(value: str, schema: Schema | None) -> str:
    if schema is None:
        # A null of JSON becomes SQL's; text is not quoted, objects and arrays are JSON.
        return f"cast({value} as string)"
    return as_text(value, schema) if schema.type.is_primitive else f"to_json({value})"
