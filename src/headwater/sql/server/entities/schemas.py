"""Types and columns, as descriptions have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.types.sql_type import Array, Decimal, Map, Primitive, SqlType, Struct, kind

if TYPE_CHECKING:
    from headwater.sql.metastore.source import DataSource, SourceColumn
    from headwater.sql.tree.statements.creation import ColumnRole


def schema(type_: SqlType) -> dict[str, Any]:
    """Return a type.

    >>> schema(Array(Primitive("INTEGER")))["memberSchema"]["type"]
    'INTEGER'
    """
    fields, member, parameters = None, None, None
    match type_:
        case Struct(parts):
            fields = [{"name": name, "schema": schema(part)} for name, part in parts]
        case Array(element) | Map(_, element):
            member = schema(element)
        case Decimal(precision, scale):
            parameters = {"precision": precision, "scale": scale}
        case Primitive():
            pass
    found: dict[str, Any] = {"type": kind(type_), "fields": fields, "memberSchema": member}
    return found if parameters is None else {**found, "parameters": parameters}


def fields(source: DataSource) -> list[dict[str, Any]]:
    """Return the columns of a stream or table."""
    return [_field(column) for column in source.columns]


def _field(column: SourceColumn) -> dict[str, Any]:
    found: dict[str, Any] = {"name": column.name, "schema": schema(column.type)}
    role = _role(column.role)
    if role:
        found["type"] = role
    if column.header is not None:
        found["headerKey"] = column.header
    return found


def _role(role: ColumnRole) -> str:
    word = role.value.partition(" ")[2] or role.value
    return "HEADER" if word.startswith("HEADER") else word
