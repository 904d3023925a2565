"""Types of the tree, out of the grammar's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.parser.tokens import name_of, place
from headwater.sql.tree.types import ArrayType, MapType, NamedType, StructType, TypeNode

if TYPE_CHECKING:
    from lark import Token


class TypeRules:
    """A method for each rule of a type."""

    def named_type(self, name: Token, *parameters: Token) -> TypeNode:
        """`name` or `name(parameters)`."""
        given = tuple(
            int(token) if token.type == "INTEGER" else name_of(token) for token in parameters
        )
        return NamedType(name_of(name), given, location=place(name))

    def array_type(self, start: Token, element: TypeNode) -> TypeNode:
        """`ARRAY<element>`."""
        return ArrayType(element, location=place(start))

    def map_type(self, start: Token, key: TypeNode, value: TypeNode) -> TypeNode:
        """`MAP<key, value>`."""
        return MapType(key, value, location=place(start))

    def struct_type(self, start: Token, *fields: tuple[str, TypeNode]) -> TypeNode:
        """`STRUCT<name type, ...>`."""
        return StructType(fields, location=place(start))

    def struct_type_field(self, name: Token, type_: TypeNode) -> tuple[str, TypeNode]:
        """`name type`."""
        return name_of(name), type_
