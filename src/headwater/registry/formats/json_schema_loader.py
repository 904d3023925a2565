"""Reads a JSON Schema of any draft into the nodes of its model."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from headwater.registry.formats.base import InvalidSchemaError
from headwater.registry.formats.json_schema_model import (
    ALL,
    ANY,
    ONE,
    AlwaysFalse,
    AlwaysTrue,
    Array,
    Combined,
    Conditional,
    Const,
    Enumeration,
    Node,
    Not,
    Number,
    Object,
    Primitive,
    Reference,
    String,
)
from headwater.registry.formats.json_text import write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.registry.formats.json_schema_references import Documents

_OBJECT_KEYWORDS = frozenset(
    {
        "properties", "required", "minProperties", "maxProperties", "dependencies",
        "patternProperties", "additionalProperties", "propertyNames",
    }
)  # fmt: skip
_MODERN_OBJECT_KEYWORDS = frozenset(
    {"dependentRequired", "dependentSchemas", "unevaluatedProperties"}
)
_ARRAY_KEYWORDS = frozenset(
    {"items", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"}
)
_MODERN_ARRAY_KEYWORDS = frozenset(
    {"prefixItems", "unevaluatedItems", "minContains", "maxContains"}
)
_NUMBER_KEYWORDS = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
)
_STRING_KEYWORDS = frozenset({"minLength", "maxLength", "pattern", "format"})
_CONDITIONAL_KEYWORDS = frozenset({"if", "then", "else"})


def load(schema: Any, documents: Documents, *, modern: bool) -> Node:
    """Return the node of a schema. Modern are the drafts 2019-09 and 2020-12."""
    loader = _Loader(documents, modern)
    node = loader.load(schema, documents.base)
    loader.finish()
    return node


class _Loader:
    def __init__(self, documents: Documents, modern: bool) -> None:
        self.documents = documents
        self.modern = modern
        self.object_keywords = _OBJECT_KEYWORDS
        self.array_keywords = _ARRAY_KEYWORDS
        self.string_keywords = _STRING_KEYWORDS
        if modern:
            self.object_keywords |= _MODERN_OBJECT_KEYWORDS
            self.array_keywords |= _MODERN_ARRAY_KEYWORDS
            self.string_keywords -= {"format"}
        # One node for one place, whoever refers to it: this is what ends recursion.
        self._targets: dict[tuple[int, str], Node] = {}
        self._kept: list[Any] = []
        self._open: list[tuple[Reference, Any, str]] = []

    def finish(self) -> None:
        while self._open:
            reference, schema, base = self._open.pop()
            key = (id(schema), base)
            if key not in self._targets:
                self._kept.append(schema)  # ids are only good while their objects live
                self._targets[key] = self.load(schema, base)
            reference.target = self._targets[key]

    def load(self, schema: Any, base: str) -> Node:
        if isinstance(schema, bool):
            return AlwaysTrue() if schema else AlwaysFalse()
        if not isinstance(schema, dict):
            raise InvalidSchemaError("a schema is an object, true or false")
        base = self.documents.base_of(schema, base)
        node = self._load_object(schema, base)
        node.has_default = "default" in schema
        node.is_connect_bytes = schema.get("connect.type") == "bytes"
        return node

    def _load_object(self, schema: dict[str, Any], base: str) -> Node:
        reference = self._reference(schema, base)
        if reference is not None and not self.modern:
            return reference
        parts: list[Node] = [] if reference is None else [reference]
        left = set(schema)
        if self.modern:  # here, a keyword without content is as good as none
            left -= {key for key in ("properties", "patternProperties") if not schema.get(key)}
        if "enum" in schema:
            parts.append(Enumeration(values=frozenset(map(value_key, schema["enum"]))))
        parts += [
            self._combined(keyword, schema[keyword], base)
            for keyword in (ALL, ANY, ONE)
            if keyword in schema
        ]
        if "not" in schema:
            parts.append(Not(inner=self.load(schema["not"], base)))
        if "const" in schema:
            parts.append(Const(value=value_key(schema["const"])))
        if "type" in schema:
            parts.append(self._typed(schema, base, left))
        parts += self._untyped(schema, base, left)
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return Node()
        return Combined(
            criterion=ALL, members=parts, texts=[str(number) for number in range(len(parts))]
        )

    def _reference(self, schema: dict[str, Any], base: str) -> Reference | None:
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            text = schema.get(keyword)
            if isinstance(text, str) and (self.modern or keyword == "$ref"):
                target, target_base = self.documents.resolve(text, base)
                reference = Reference(text=text)
                self._open.append((reference, target, target_base))
                return reference
        return None

    def _combined(self, criterion: str, schemas: list[Any], base: str) -> Combined:
        return Combined(
            criterion=criterion,
            members=[self.load(each, base) for each in schemas],
            texts=[write_json(each) for each in schemas],
        )

    def _typed(self, schema: dict[str, Any], base: str, left: set[str]) -> Node:
        types = schema["type"]
        if isinstance(types, str):
            return self._of_type(types, schema, base, left)
        members = [self._of_type(each, schema, base, left) for each in types]
        return Combined(criterion=ANY, members=members, texts=[write_json(each) for each in types])

    def _of_type(self, type_: str, schema: dict[str, Any], base: str, left: set[str]) -> Node:
        match type_:
            case "string":
                left -= self.string_keywords
                return _string(schema)
            case "integer" | "number":
                left -= _NUMBER_KEYWORDS
                number = _number(schema)
                number.is_integer = type_ == "integer"
                return number
            case "object":
                left -= self.object_keywords
                return self._object(schema, base)
            case "array":
                left -= self.array_keywords
                return self._array(schema, base)
            case "boolean" | "null":
                return Primitive(type=type_)
            case _:
                raise InvalidSchemaError(f"there is no type '{type_}'")

    def _untyped(self, schema: dict[str, Any], base: str, left: set[str]) -> list[Node]:
        parts: list[Node] = []
        if left & self.array_keywords:
            parts.append(self._array(schema, base))
        if left & self.object_keywords:
            parts.append(self._object(schema, base))
        if left & _NUMBER_KEYWORDS:
            parts.append(_number(schema))
        if left & self.string_keywords:
            parts.append(_string(schema))
        if left & _CONDITIONAL_KEYWORDS:
            parts.append(Conditional())
            for keyword in sorted(left & _CONDITIONAL_KEYWORDS):
                self.load(schema[keyword], base)  # only to see that it can be read
        return parts

    def _object(self, schema: dict[str, Any], base: str) -> Object:
        node = Object(
            properties=self._each(schema.get("properties"), base),
            required=frozenset(schema.get("required") or ()),
            pattern_properties=self._each(schema.get("patternProperties"), base),
            max_properties=_integer(schema.get("maxProperties")),
            min_properties=_integer(schema.get("minProperties")),
        )
        node.allows_additional, node.additional = self._additional(
            schema.get("additionalProperties"), base
        )
        self._dependencies(node, schema, base)
        if self.modern and "unevaluatedProperties" in schema:
            node.unevaluated = self.load(schema["unevaluatedProperties"], base)
        return node

    def _dependencies(self, node: Object, schema: dict[str, Any], base: str) -> None:
        dependencies = dict(schema.get("dependencies") or {})
        if self.modern:
            dependencies |= schema.get("dependentRequired") or {}
            node.schema_dependencies |= self._each(schema.get("dependentSchemas"), base)
        for name, dependency in dependencies.items():
            if isinstance(dependency, list):
                node.property_dependencies[name] = frozenset(dependency)
            else:
                node.schema_dependencies[name] = self.load(dependency, base)

    def _array(self, schema: dict[str, Any], base: str) -> Array:
        node = Array(
            max_items=_integer(schema.get("maxItems")),
            min_items=_integer(schema.get("minItems")),
            unique_items=schema.get("uniqueItems") is True,
        )
        items = schema.get("items")
        if not self.modern or isinstance(items, list):
            if isinstance(items, list):
                node.tuple_items = [self.load(each, base) for each in items]
            elif items is not None:
                node.items = self.load(items, base)
            node.allows_additional, node.additional = self._additional(
                schema.get("additionalItems"), base
            )
        else:
            self._modern_items(node, schema, base)
        if self.modern and "contains" in schema:
            node.min_contains = _integer(schema.get("minContains", 1))
            node.max_contains = _integer(schema.get("maxContains"))
        if self.modern and "unevaluatedItems" in schema:
            node.unevaluated = self.load(schema["unevaluatedItems"], base)
        return node

    def _modern_items(self, node: Array, schema: dict[str, Any], base: str) -> None:
        node.tuple_items = [self.load(each, base) for each in schema.get("prefixItems") or ()]
        items = schema.get("items")
        if items is False:
            node.allows_additional = False
        elif items is not None and items is not True:
            loaded = self.load(items, base)
            if node.tuple_items:
                node.additional = loaded
            else:
                node.items = loaded

    def _additional(self, schema: Any, base: str) -> tuple[bool, Node | None]:
        if schema is None or isinstance(schema, bool):
            return schema is not False, None
        return True, self.load(schema, base)

    def _each(self, schemas: dict[str, Any] | None, base: str) -> dict[str, Node]:
        return {name: self.load(schema, base) for name, schema in (schemas or {}).items()}


def value_key(value: Any) -> str:
    """Return a text that is the same for equal JSON values, however they are written."""
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(number: Any) -> Any:
    assert isinstance(number, Decimal)
    return int(number) if number == number.to_integral_value() else float(number)


def _string(schema: dict[str, Any]) -> String:
    return String(
        max_length=_integer(schema.get("maxLength")),
        min_length=_integer(schema.get("minLength")),
        pattern=schema.get("pattern"),
    )


def _number(schema: dict[str, Any]) -> Number:
    # In draft 4, exclusiveMinimum is a mark on minimum and no limit of its own.
    limit: Callable[[str], Any] = lambda key: (  # noqa: E731
        None if isinstance(schema.get(key), bool) else schema.get(key)
    )
    return Number(
        maximum=limit("maximum"),
        minimum=limit("minimum"),
        exclusive_maximum=limit("exclusiveMaximum"),
        exclusive_minimum=limit("exclusiveMinimum"),
        multiple_of=limit("multipleOf"),
    )


def _integer(value: Any) -> int | None:
    return None if value is None else int(value)
