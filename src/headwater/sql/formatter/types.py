"""Types as text."""

from __future__ import annotations

from typing import assert_never

from headwater.sql.tree.types import ArrayType, MapType, NamedType, StructType, TypeNode
from headwater.sql.words import quoted


def format_type(type_: TypeNode) -> str:
    """Return a type as a statement writes it."""
    match type_:
        case NamedType(name, parameters):
            inner = ", ".join(
                quoted(given) if isinstance(given, str) else str(given) for given in parameters
            )
            return f"{quoted(name)}({inner})" if parameters else quoted(name)
        case ArrayType(element):
            return f"ARRAY<{format_type(element)}>"
        case MapType(key, value):
            return f"MAP<{format_type(key)}, {format_type(value)}>"
        case StructType(fields):
            inner = ", ".join(f"{quoted(name)} {format_type(part)}" for name, part in fields)
            return f"STRUCT<{inner}>"
        case _:
            assert_never(type_)
