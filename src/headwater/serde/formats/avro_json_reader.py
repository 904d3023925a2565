"""Checks JSON against an Avro schema and fills in what is left out: branches and defaults."""

from __future__ import annotations

import struct
from typing import Any

_INT = range(-(2**31), 2**31)
_LONG = range(-(2**63), 2**63)
_NO_NUMBERS = {"NaN", "Infinity", "-Infinity"}
_PRIMITIVES = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}


def tag_of(branch: Any) -> str:
    """Return what a union's branch is called in the JSON encoding: a type, or a full name."""
    if isinstance(branch, dict):
        name = branch.get("name", branch["type"])
        return name if isinstance(name, str) else tag_of(name)
    return str(branch)


class AvroJsonReader:
    """Turns Avro's JSON encoding into what AvroJsonCodec's wrapped schema takes.

    Errors are ValueErrors that say where in the value they are.
    """

    def __init__(self, parsed: Any) -> None:
        self._schema = parsed
        self._named: dict[str, Any] = {}
        self._collect(parsed)

    def read(self, value: Any) -> Any:
        """Return the value with every branch named, every default filled in and bytes as bytes."""
        return self._read(value, self._schema, "")

    def _collect(self, schema: Any) -> None:
        if isinstance(schema, list):
            for branch in schema:
                self._collect(branch)
        elif isinstance(schema, dict):
            if "name" in schema:
                self._named[schema["name"]] = schema
            for field in schema.get("fields", ()):
                self._collect(field["type"])
            for part in ("items", "values", "type"):
                self._collect(schema.get(part))

    def _read(self, value: Any, schema: Any, path: str) -> Any:
        if isinstance(schema, list):
            return self._union(value, schema, path)
        if isinstance(schema, str) and schema not in _PRIMITIVES:
            schema = self._named[schema]
        kind = schema["type"] if isinstance(schema, dict) else schema
        match kind:
            case "record" | "error":
                return self._record(value, schema, path)
            case "array":
                items = _expect(value, list, "a list", path)
                return [
                    self._read(item, schema["items"], f"{path}[{index}]")
                    for index, item in enumerate(items)
                ]
            case "map":
                entries = _expect(value, dict, "an object", path)
                return {
                    key: self._read(item, schema["values"], _join(path, key))
                    for key, item in entries.items()
                }
            case "enum":
                if value not in schema["symbols"]:
                    raise _wrong(path, f"one of {', '.join(schema['symbols'])}", value)
                return value
            case "fixed":
                data = _bytes(value, path)
                if len(data) != schema["size"]:
                    raise _wrong(path, f"a text of {schema['size']} characters", value)
                return data
            case str():
                return _primitive(value, kind, path)
            case _:
                return self._read(value, kind, path)

    def _record(self, value: Any, schema: dict[str, Any], path: str) -> dict[str, Any]:
        given = _expect(value, dict, f"an object for the record {schema['name']}", path)
        fields = {field["name"]: field for field in schema["fields"]}
        unknown = given.keys() - fields.keys()
        if unknown:
            raise ValueError(
                f"{_at(path)}the record {schema['name']} has no field '{min(unknown)}'; "
                f"its fields are {', '.join(fields)}"
            )
        record = {}
        for name, field in fields.items():
            if name in given:
                item = given[name]
            elif "default" in field:
                item = field["default"]
            else:
                raise ValueError(f"{_at(_join(path, name))}the field is missing, without a default")
            record[name] = self._read(item, field["type"], _join(path, name))
        return record

    def _union(self, value: Any, branches: list[Any], path: str) -> Any:
        tags = {tag_of(branch): branch for branch in branches}
        if value is None and "null" in tags:
            return None
        if isinstance(value, dict) and len(value) == 1:
            (tag,) = value
            if tag in tags and tag != "null":
                return {tag: self._read(value[tag], tags[tag], _join(path, tag))}
        whole_number = isinstance(value, int) and not isinstance(value, bool)
        refusals: list[ValueError] = []
        # A whole number fits a double as well, but only if there is nothing better.
        for tag in sorted(tags, key=lambda tag: whole_number and tag in ("float", "double")):
            if tag == "null":
                continue
            try:
                return {tag: self._read(value, tags[tag], path)}
            except ValueError as refusal:
                refusals.append(refusal)
        if len(refusals) == 1 and isinstance(value, dict | list):
            raise refusals[0]
        wanted = " or ".join("null" if tag == "null" else f'{{"{tag}": ...}}' for tag in tags)
        raise _wrong(path, wanted, value)


def _primitive(value: Any, kind: str, path: str) -> Any:
    match kind:
        case "null" if value is None:
            return None
        case "boolean" if isinstance(value, bool):
            return value
        case "int" | "long" if isinstance(value, int) and not isinstance(value, bool):
            if value in (_INT if kind == "int" else _LONG):
                return value
        case "float" | "double" if isinstance(value, int | float) and not isinstance(value, bool):
            return _number(value, kind, path)
        case "float" | "double" if value in _NO_NUMBERS:
            return float(value)
        case "string" if isinstance(value, str):
            return value
        case "bytes":
            return _bytes(value, path)
    raise _wrong(path, _WANTED[kind], value)


def _number(value: float, kind: str, path: str) -> float:
    try:
        struct.pack(">f" if kind == "float" else ">d", value)
        return float(value)
    except OverflowError:
        raise _wrong(path, _WANTED[kind], value) from None


def _bytes(value: Any, path: str) -> bytes:
    text = _expect(value, str, _WANTED["bytes"], path)
    try:
        return bytes(text, "latin-1")
    except UnicodeEncodeError:
        raise _wrong(path, _WANTED["bytes"], value) from None


def _expect(value: Any, kind: type, wanted: str, path: str) -> Any:
    if not isinstance(value, kind):
        raise _wrong(path, wanted, value)
    return value


def _wrong(path: str, wanted: str, value: Any) -> ValueError:
    shown = repr(value)
    if len(shown) > 80:
        shown = f"{shown[:77]}..."
    return ValueError(f"{_at(path)}wanted is {wanted}, not {shown}")


def _at(path: str) -> str:
    return f"{path}: " if path else ""


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


_WANTED = {
    "null": "null",
    "boolean": "true or false",
    "int": "a whole number of 32 bits",
    "long": "a whole number of 64 bits",
    "float": "a number of single precision",
    "double": "a number",
    "string": "a text",
    "bytes": "a text with a character (up to \\u00ff) a byte",
}
