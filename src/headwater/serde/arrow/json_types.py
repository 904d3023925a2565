"""JSON Schema's types as Arrow's.

An object with properties is a struct, one with only `additionalProperties` a map, an integer 64
bits, a number a double. What a schema leaves open, or offers several kinds of, is a string of JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pyarrow as pa

from headwater.serde.errors import SchemaError

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCALARS = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "null": pa.null(),
}

# JSON as text, as a type that no value of a schema has by itself.
ANY = pa.large_string()


def json_type(schema: Any, resources: Mapping[str, Any] | None = None) -> pa.DataType:
    """Return the type of a schema; `ANY` stands wherever values are JSON in a string."""
    return _Types(schema, resources or {}).of(schema, schema, ())


def shown_type(of: pa.DataType) -> pa.DataType:
    """Return a type as users see it, where JSON in a string is a string."""
    return _with_any(of, pa.string())


def open_type(of: pa.DataType) -> pa.DataType:
    """Return a type that is null wherever the schema leaves open what is there."""
    return _with_any(of, pa.null())


def _with_any(of: pa.DataType, instead: pa.DataType) -> pa.DataType:
    if of == ANY:
        return instead
    if pa.types.is_struct(of):
        return pa.struct([(field.name, _with_any(field.type, instead)) for field in of])
    if pa.types.is_map(of):
        return pa.map_(pa.string(), _with_any(of.item_type, instead))
    return pa.list_(_with_any(of.value_type, instead)) if pa.types.is_list(of) else of


class _Types:
    def __init__(self, root: Any, resources: Mapping[str, Any]) -> None:
        self._root = root
        self._resources = resources

    def of(self, schema: Any, root: Any, around: tuple[int, ...]) -> pa.DataType:
        if not isinstance(schema, dict):
            return ANY
        if id(schema) in around:
            raise SchemaError(
                "this JSON schema contains itself, which no column can: its depth is not known "
                "before it is read. Decode it one by one."
            )
        around = (*around, id(schema))
        if isinstance(schema.get("$ref"), str):
            return self.of(*self._resolved(schema["$ref"], root), around)
        for choice in ("oneOf", "anyOf"):
            if choice in schema and "properties" not in schema:
                return self._one_of(schema[choice], root, around)
        if "allOf" in schema:
            return self._all_of(schema, root, around)
        return self._kind(schema, root, around)

    def _kind(self, schema: dict[str, Any], root: Any, around: tuple[int, ...]) -> pa.DataType:
        kind = schema.get("type", "object" if "properties" in schema else None)
        if isinstance(kind, list):
            kinds = [each for each in kind if each != "null"]
            if set(kinds) == {"integer", "number"}:
                kinds = ["number"]
            kind = kinds[0] if len(kinds) == 1 else "null" if not kinds else None
        if kind == "object":
            return self._object(schema, root, around)
        if kind == "array":
            items = schema.get("items")
            return pa.list_(self.of(items, root, around))
        if kind is None:
            return _of_constants(schema)
        return _SCALARS.get(kind, ANY)

    def _object(self, schema: dict[str, Any], root: Any, around: tuple[int, ...]) -> pa.DataType:
        if schema.get("properties"):
            return pa.struct(
                [(name, self.of(each, root, around)) for name, each in schema["properties"].items()]
            )
        if isinstance(schema.get("additionalProperties"), dict):
            return pa.map_(pa.string(), self.of(schema["additionalProperties"], root, around))
        return ANY

    def _one_of(self, choices: Any, root: Any, around: tuple[int, ...]) -> pa.DataType:
        types = {each for choice in choices if (each := self.of(choice, root, around)) != pa.null()}
        if types == {pa.int64(), pa.float64()}:
            return pa.float64()
        return types.pop() if len(types) == 1 else ANY

    def _all_of(self, schema: dict[str, Any], root: Any, around: tuple[int, ...]) -> pa.DataType:
        own = {name: value for name, value in schema.items() if name != "allOf"}
        parts = [self.of(part, root, around) for part in schema["allOf"]]
        if "type" in own or "properties" in own:
            parts.insert(0, self.of(own, root, around))
        known = [part for part in parts if part != ANY]
        if known and all(pa.types.is_struct(part) for part in known):
            return pa.struct({field.name: field.type for part in known for field in part}.items())
        return known[0] if len(set(known)) == 1 else ANY

    def _resolved(self, reference: str, root: Any) -> tuple[Any, Any]:
        address, _, path = reference.partition("#")
        if address:
            root = next(
                (
                    resource
                    for name, resource in self._resources.items()
                    if name == address or address.endswith(f"/{name.lstrip('/')}")
                ),
                None,
            )
        found = root
        for part in path.split("/")[1:]:
            name = unquote(part).replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        if found is None:
            raise SchemaError(f"'{reference}' points to nothing that this JSON schema has")
        return found, root


def _of_constants(schema: dict[str, Any]) -> pa.DataType:
    constants = schema.get("enum", [schema["const"]] if "const" in schema else [])
    kinds = {type(each) for each in constants if each is not None}
    python = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}
    return python.get(kinds.pop(), ANY) if len(kinds) == 1 else ANY
