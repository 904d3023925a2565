"""Types as they are written, and what they are."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, assert_never

from headwater.sql.errors import SqlError
from headwater.sql.tree.types import ArrayType, MapType, NamedType, StructType, TypeNode
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIME,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMED: dict[str, SqlType] = {
    "BOOLEAN": BOOLEAN,
    "INT": INTEGER,
    "INTEGER": INTEGER,
    "BIGINT": BIGINT,
    "DOUBLE": DOUBLE,
    "VARCHAR": STRING,
    "STRING": STRING,
    "BYTES": BYTES,
    "TIME": TIME,
    "DATE": DATE,
    "TIMESTAMP": TIMESTAMP,
}


def resolve_type(node: TypeNode, custom: Mapping[str, SqlType]) -> SqlType:
    """Return the type that a statement names; `custom` has those of CREATE TYPE."""
    match node:
        case ArrayType(element):
            return Array(resolve_type(element, custom))
        case MapType(key, value):
            return Map(resolve_type(key, custom), resolve_type(value, custom))
        case StructType(fields):
            _refuse_twice(node)
            return Struct(tuple((name, resolve_type(part, custom)) for name, part in fields))
        case NamedType():
            return _named(node, custom)
        case _:
            assert_never(node)


def _named(node: NamedType, custom: Mapping[str, SqlType]) -> SqlType:
    if node.name == "DECIMAL":
        return _decimal(node)
    found = _NAMED.get(node.name) or custom.get(node.name)
    if found is None:
        known = [*_NAMED, "DECIMAL", "ARRAY", "MAP", "STRUCT", *custom]
        close = difflib.get_close_matches(node.name, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else "; CREATE TYPE makes one"
        raise SqlError(f"there is no type {node.name}{hint}", node.location)
    # VARCHAR(STRING) is an old way to write it, and a length is not looked at.
    is_old = all(given == "STRING" or isinstance(given, int) for given in node.parameters)
    if node.parameters and not (found == STRING and is_old):
        raise SqlError(f"{node.name} takes no parameters", node.location)
    return found


def _decimal(node: NamedType) -> SqlType:
    match node.parameters:
        case (int(precision), int(scale)):
            if precision < 1:
                raise SqlError("a DECIMAL has at least one digit", node.location)
            if scale > precision:
                raise SqlError(
                    f"DECIMAL({precision}, {scale}) has more digits after the point than in all",
                    node.location,
                )
            return Decimal(precision, scale)
        case _:
            raise SqlError(
                "DECIMAL needs its digits, in all and after the point: DECIMAL(10, 2)",
                node.location,
            )


def _refuse_twice(node: StructType) -> None:
    names = [name for name, _ in node.fields]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise SqlError(f"the struct has two fields {twice}", node.location)
