"""Writes Avro schemas: as Java's Avro library prints them, normalised, or bare for comparing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.registry.formats.avro_schema import PRIMITIVES, AvroField, AvroType, is_default
from headwater.registry.formats.json_text import write_json

if TYPE_CHECKING:
    from collections.abc import Iterable

_LOGICAL_TYPES = {
    "decimal": ("bytes", "fixed"), "big-decimal": ("bytes",), "uuid": ("string", "fixed"),
    "duration": ("fixed",), "date": ("int",), "time-millis": ("int",), "time-micros": ("long",),
    "timestamp-millis": ("long",), "timestamp-micros": ("long",), "timestamp-nanos": ("long",),
    "local-timestamp-millis": ("long",), "local-timestamp-micros": ("long",),
    "local-timestamp-nanos": ("long",),
}  # fmt: skip


def canonical_text(schema: AvroType, known: Iterable[str] = ()) -> str:
    """Return the schema's text; the types with these full names are declared elsewhere."""
    return write_json(_Writer(set(known)).type(schema, ""))


def normalized_text(schema: AvroType, known: Iterable[str] = ()) -> str:
    """Return the text in which properties and aliases are sorted and empty docs left out."""
    return write_json(_NormalWriter(set(known)).type(schema, ""))


def bare_schema(schema: AvroType) -> Any:
    """Return what matters for reading data, with all names in full, as JSON."""
    return _BareWriter(set()).type(schema, "")


class _Writer:
    def __init__(self, known: set[str]) -> None:
        self.known = known

    def type(self, schema: AvroType, namespace: str) -> Any:
        if schema.kind in PRIMITIVES:
            props = self.props(schema.props, schema)
            return {"type": schema.kind, **props} if props else schema.kind
        if schema.kind == "union":
            return [self.type(branch, namespace) for branch in schema.branches]
        if schema.kind in ("array", "map"):
            assert schema.items is not None
            key = "items" if schema.kind == "array" else "values"
            items = self.type(schema.items, namespace)
            return {"type": schema.kind, key: items, **self.props(schema.props, schema)}
        if schema.name in self.known:
            return self.reference(schema, namespace)
        self.known.add(schema.name)
        return self.declaration(schema, namespace)

    def reference(self, schema: AvroType, namespace: str) -> str:
        same = schema.namespace == namespace and schema.simple_name not in PRIMITIVES
        return schema.simple_name if same else schema.name

    def declaration(self, schema: AvroType, namespace: str) -> dict[str, Any]:
        written: dict[str, Any] = {"type": schema.kind, "name": schema.simple_name}
        if schema.namespace != namespace:
            written["namespace"] = schema.namespace
        if (doc := self.doc(schema.doc)) is not None:
            written["doc"] = doc
        if schema.kind in ("record", "error"):
            written["fields"] = [self.field(each, schema.namespace) for each in schema.fields]
        elif schema.kind == "enum":
            written["symbols"] = schema.symbols
            if schema.default_symbol is not None:
                written["default"] = schema.default_symbol
        else:
            written["size"] = schema.size
        written |= self.props(schema.props, schema)
        if schema.aliases:
            written["aliases"] = [
                alias.rpartition(".")[2] if alias.rpartition(".")[0] == schema.namespace else alias
                for alias in self.aliases(schema.aliases)
            ]
        return written

    def field(self, field: AvroField, namespace: str) -> dict[str, Any]:
        written = {"name": field.name, "type": self.type(field.type, namespace)}
        if field.doc is not None:
            written["doc"] = field.doc
        if field.has_default:
            written["default"] = self.default(field)
        if field.order != "ascending":
            written["order"] = field.order
        if field.aliases:
            written["aliases"] = self.aliases(field.aliases)
        return {**written, **self.props(field.props, None)}

    def doc(self, doc: str | None) -> str | None:
        return doc

    def default(self, field: AvroField) -> Any:
        return field.default

    def aliases(self, aliases: tuple[str, ...]) -> list[str]:
        return list(aliases)

    def props(self, props: dict[str, Any], schema: AvroType | None) -> dict[str, Any]:
        return props


class _NormalWriter(_Writer):
    def declaration(self, schema: AvroType, namespace: str) -> dict[str, Any]:
        written = super().declaration(schema, namespace)
        return written | {"type": "record"} if schema.kind == "error" else written

    def doc(self, doc: str | None) -> str | None:
        return doc or None

    def default(self, field: AvroField) -> Any:
        return _typed(field.default, field.type)

    def aliases(self, aliases: tuple[str, ...]) -> list[str]:
        return sorted(aliases)

    def props(self, props: dict[str, Any], schema: AvroType | None) -> dict[str, Any]:
        ordered = {key: _sorted(props[key]) for key in sorted(props)}
        logical = props.get("logicalType")
        if schema is None or schema.kind not in _LOGICAL_TYPES.get(logical or "", ()):
            return ordered
        first = ["logicalType"]
        if logical == "decimal":
            first += ["precision", "scale"] if props.get("scale") else ["precision"]
        return {key: ordered[key] for key in first if key in ordered} | ordered


class _BareWriter(_Writer):
    # The official library cannot name a type without a namespace from inside one, so that here
    # every type has one.

    def reference(self, schema: AvroType, namespace: str) -> str:
        return _in_a_namespace(schema.name)

    def declaration(self, schema: AvroType, namespace: str) -> dict[str, Any]:
        written: dict[str, Any] = {"type": schema.kind, "name": _in_a_namespace(schema.name)}
        if schema.kind in ("record", "error"):
            written["type"] = "record"
            written["fields"] = [self.field(each, schema.namespace) for each in schema.fields]
        elif schema.kind == "enum":
            written["symbols"] = schema.symbols
            if schema.default_symbol is not None:
                written["default"] = schema.default_symbol
        else:
            written["size"] = schema.size
        if schema.aliases:
            written["aliases"] = [_in_a_namespace(alias) for alias in schema.aliases]
        return written

    def field(self, field: AvroField, namespace: str) -> dict[str, Any]:
        written = {"name": field.name, "type": self.type(field.type, namespace)}
        if field.has_default:
            written["default"] = field.default
        if field.aliases:
            written["aliases"] = list(field.aliases)
        return written

    def props(self, props: dict[str, Any], schema: AvroType | None) -> dict[str, Any]:
        return {}


def _in_a_namespace(name: str) -> str:
    return f"_.{name}"


def _typed(value: Any, type_: AvroType) -> Any:
    # A default of 1 for a double is written as 1.0, as it is that number.
    match type_.kind:
        case "float" | "double" if isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        case "union":
            fitting = [branch for branch in type_.branches if is_default(value, branch)]
            return _typed(value, fitting[0]) if fitting else value
        case "array" | "map" if type_.items is not None:
            if isinstance(value, list):
                return [_typed(each, type_.items) for each in value]
            return {key: _typed(value[key], type_.items) for key in sorted(value)}
        case "record" | "error":
            types = {field.name: field.type for field in type_.fields}
            return {
                key: _typed(value[key], types[key]) if key in types else value[key]
                for key in sorted(value)
            }
        case _:
            return value


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(each) for each in value]
    return value
