"""Avro schemas understood: names resolved, everything checked that the specification demands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from headwater.registry.formats.base import InvalidSchemaError
from headwater.registry.formats.json_text import write_json

PRIMITIVES = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})

_RESERVED = frozenset(
    {"aliases", "doc", "fields", "items", "name", "namespace", "size", "symbols", "type", "values"}
)
_FIELD_RESERVED = frozenset({"aliases", "default", "doc", "name", "order", "type"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ORDERS = ("ascending", "descending", "ignore")


@dataclass(slots=True, eq=False)
class AvroType:
    """A type: `kind` is a primitive's name, "record", "error", "enum", "fixed", "array", ..."""

    kind: str
    props: dict[str, Any] = field(default_factory=dict)
    name: str = ""  # the full name of a named type
    doc: str | None = None
    aliases: tuple[str, ...] = ()  # full names
    fields: list[AvroField] = field(default_factory=list)
    symbols: list[str] = field(default_factory=list)
    default_symbol: str | None = None
    size: int = 0
    items: AvroType | None = None  # of an array, or the values of a map
    branches: list[AvroType] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        """The namespace of a named type; none is the empty text."""
        return self.name.rpartition(".")[0]

    @property
    def simple_name(self) -> str:
        """The name without its namespace."""
        return self.name.rpartition(".")[2]


@dataclass(slots=True, eq=False)
class AvroField:
    """A record's field."""

    name: str
    type: AvroType
    doc: str | None
    has_default: bool
    default: Any
    order: str
    aliases: tuple[str, ...]
    props: dict[str, Any]


class AvroReader:
    """Reads schemas one after the other; later ones may use the names of earlier ones."""

    def __init__(self, *, check_defaults: bool = True) -> None:
        self.names: dict[str, AvroType] = {}
        self._check_defaults = check_defaults

    def read(self, schema: Any) -> AvroType:
        """Understand parsed JSON; raises InvalidSchemaError."""
        return self._type(schema, "", "the schema")

    def _type(self, schema: Any, namespace: str, place: str) -> AvroType:
        if isinstance(schema, str):
            return self._named(schema, namespace, place)
        if isinstance(schema, list):
            return self._union(schema, namespace, place)
        if not isinstance(schema, dict):
            raise InvalidSchemaError(f"{place}: {_shown(schema)} is no type")
        kind = schema.get("type")
        if not isinstance(kind, str):
            raise InvalidSchemaError(f"{place}: {_shown(schema)} has no type")
        if kind in PRIMITIVES:
            return AvroType(kind, _props(schema))
        if kind in ("record", "error"):
            return self._record(schema, namespace, place)
        if kind == "enum":
            return self._enum(schema, namespace, place)
        if kind == "fixed":
            return self._fixed(schema, namespace, place)
        if kind in ("array", "map"):
            key = "items" if kind == "array" else "values"
            if key not in schema:
                raise InvalidSchemaError(f"{place}: the {kind} has no {key}")
            items = self._type(schema[key], namespace, f"{place}, {key}")
            return AvroType(kind, _props(schema), items=items)
        return self._named(kind, namespace, place)

    def _named(self, name: str, namespace: str, place: str) -> AvroType:
        if name in PRIMITIVES:
            return AvroType(name)
        for candidate in (_full_name(name, namespace), name):
            if candidate in self.names:
                return self.names[candidate]
        raise InvalidSchemaError(
            f"{place}: there is no type '{name}'. Declare it before it is used, or refer to it"
        )

    def _union(self, schemas: list[Any], namespace: str, place: str) -> AvroType:
        branches: list[AvroType] = []
        seen: set[str] = set()
        for index, schema in enumerate(schemas):
            branch = self._type(schema, namespace, f"{place}, branch {index}")
            if branch.kind == "union":
                raise InvalidSchemaError(f"{place}: a union cannot hold a union directly")
            name = branch.name or branch.kind
            if name in seen:
                raise InvalidSchemaError(f"{place}: {name} comes twice in the union")
            seen.add(name)
            branches.append(branch)
        return AvroType("union", branches=branches)

    def _record(self, schema: dict[str, Any], namespace: str, place: str) -> AvroType:
        record = self._declare(schema, namespace, place)
        fields = schema.get("fields")
        place = f"record {record.name}"
        if not isinstance(fields, list):
            raise InvalidSchemaError(f"{place}: it has no list of fields")
        seen: set[str] = set()
        for number, each in enumerate(fields):
            if not isinstance(each, dict):
                raise InvalidSchemaError(f"{place}: field {number} is no object")
            read = self._field(each, record.namespace, f"{place}, field {number}")
            if read.name in seen:
                raise InvalidSchemaError(f"{place}: it has two fields '{read.name}'")
            seen.add(read.name)
            record.fields.append(read)
        if self._check_defaults:
            # Only now: a default may be of the very record that its field is in.
            for each in record.fields:
                if each.has_default and not is_default(each.default, each.type):
                    raise InvalidSchemaError(
                        f"{place}, field '{each.name}': the default {_shown(each.default)} "
                        f"is no {each.type.name or each.type.kind}"
                    )
        return record

    def _field(self, schema: dict[str, Any], namespace: str, place: str) -> AvroField:
        name = schema.get("name")
        if not isinstance(name, str):
            raise InvalidSchemaError(f"{place}: it has no name")
        place = f"{place} '{name}'"
        _check_name(name, place)
        if "type" not in schema:
            raise InvalidSchemaError(f"{place}: it has no type")
        type_ = self._type(schema["type"], namespace, place)
        order = schema.get("order", "ascending")
        if not isinstance(order, str) or order.lower() not in _ORDERS:
            raise InvalidSchemaError(f"{place}: the order is one of {', '.join(_ORDERS)}")
        default = schema.get("default")
        if type_.kind in ("float", "double") and isinstance(default, str):
            default = _number(default, place)
        return AvroField(
            name,
            type_,
            _text(schema.get("doc")),
            "default" in schema,
            default,
            order.lower(),
            _aliases(schema, place),
            {key: value for key, value in schema.items() if key not in _FIELD_RESERVED},
        )

    def _enum(self, schema: dict[str, Any], namespace: str, place: str) -> AvroType:
        enum = self._declare(schema, namespace, place, more_reserved="default")
        symbols = schema.get("symbols")
        place = f"enum {enum.name}"
        if not isinstance(symbols, list):
            raise InvalidSchemaError(f"{place}: it has no list of symbols")
        for symbol in symbols:
            if not isinstance(symbol, str):
                raise InvalidSchemaError(f"{place}: the symbol {_shown(symbol)} is no text")
            _check_name(symbol, f"{place}, symbol '{symbol}'")
            if symbol in enum.symbols:
                raise InvalidSchemaError(f"{place}: the symbol '{symbol}' comes twice")
            enum.symbols.append(symbol)
        default = schema.get("default")
        if default is not None and default not in enum.symbols:
            raise InvalidSchemaError(f"{place}: the default {_shown(default)} is no symbol of it")
        enum.default_symbol = default
        return enum

    def _fixed(self, schema: dict[str, Any], namespace: str, place: str) -> AvroType:
        fixed = self._declare(schema, namespace, place)
        size = schema.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 2**31:
            raise InvalidSchemaError(f"fixed {fixed.name}: its size has to be a number of bytes")
        fixed.size = size
        return fixed

    def _declare(
        self, schema: dict[str, Any], namespace: str, place: str, more_reserved: str = ""
    ) -> AvroType:
        name = schema.get("name")
        if not isinstance(name, str):
            raise InvalidSchemaError(f"{place}: the {schema['type']} has no name")
        own = schema.get("namespace", namespace)
        if not isinstance(own, str):
            raise InvalidSchemaError(f"{place}: the namespace of '{name}' is no text")
        full = name if "." in name else _full_name(name, own)
        for part in full.removeprefix(".").split("."):
            _check_name(part, f"{place}, the name '{full}'")
        full = full.removeprefix(".")
        if full in PRIMITIVES:
            raise InvalidSchemaError(f"{place}: '{full}' is the name of a primitive type")
        if full in self.names:
            raise InvalidSchemaError(f"{place}: '{full}' is declared twice")
        declared = AvroType(schema["type"], _props(schema, more_reserved), full)
        declared.doc = _text(schema.get("doc"))
        aliases = _aliases(schema, f"{place} '{full}'")
        declared.aliases = tuple(
            dict.fromkeys(
                alias if "." in alias else _full_name(alias, declared.namespace)
                for alias in aliases
            )
        )
        self.names[full] = declared
        return declared


def is_default(value: Any, type_: AvroType) -> bool:
    """Return whether a JSON value can be a default of a type."""
    match type_.kind:
        case "null":
            return value is None
        case "boolean":
            return isinstance(value, bool)
        case "int" | "long":
            bits = 31 if type_.kind == "int" else 63
            return (
                isinstance(value, int)
                and not isinstance(value, bool)
                and -(2**bits) <= value < 2**bits
            )
        case "float" | "double":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "bytes" | "string" | "enum" | "fixed":
            return isinstance(value, str)
        case "array":
            assert type_.items is not None
            inner = type_.items
            return isinstance(value, list) and all(is_default(each, inner) for each in value)
        case "map":
            assert type_.items is not None
            inner = type_.items
            return isinstance(value, dict) and all(
                is_default(each, inner) for each in value.values()
            )
        case "union":
            return any(is_default(value, branch) for branch in type_.branches)
        case _:
            return isinstance(value, dict) and all(
                is_default(value[each.name], each.type)
                if each.name in value
                else each.has_default and is_default(each.default, each.type)
                for each in type_.fields
            )


def _full_name(name: str, namespace: str) -> str:
    return f"{namespace}.{name}" if namespace else name


def _props(schema: dict[str, Any], more_reserved: str = "") -> dict[str, Any]:
    return {
        key: value for key, value in schema.items() if key not in _RESERVED and key != more_reserved
    }


def _aliases(schema: dict[str, Any], place: str) -> tuple[str, ...]:
    aliases = schema.get("aliases")
    if aliases is None:
        return ()
    if not isinstance(aliases, list) or not all(isinstance(each, str) for each in aliases):
        raise InvalidSchemaError(f"{place}: aliases are a list of names")
    return tuple(dict.fromkeys(aliases))


def _check_name(name: str, place: str) -> None:
    if not _NAME.fullmatch(name):
        raise InvalidSchemaError(
            f"{place}: a name has letters, digits and '_', and does not start with a digit"
        )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _number(text: str, place: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidSchemaError(f"{place}: the default {_shown(text)} is no number") from None


def _shown(value: Any) -> str:
    text = write_json(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
