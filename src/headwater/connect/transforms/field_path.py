"""The path to a field, on top or inside of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.config import ConfigError
from headwater.connect.data.schema import Field, Type
from headwater.connect.data.sql_text import unless_null
from headwater.connect.transforms.structs import value_of
from headwater.connect.transforms.variants import as_map, entry

if TYPE_CHECKING:
    from headwater.connect.data.schema import Schema


class FieldPath:
    """The names that lead to a field.

    >>> FieldPath("a.b", "V1").names, FieldPath("a.`b.c`.d", "V2").names
    (('a.b',), ('a', 'b.c', 'd'))
    """

    def __init__(self, path: str, version: str, setting: str = "field") -> None:
        self.text = path
        self.names = (path,) if version.upper() == "V1" else tuple(_names(path, setting))

    def field(self, schema: Schema) -> Field | None:
        """Return the field, if a struct has it."""
        *outer, last = self.names
        for name in outer:
            found = schema.field(name)
            if found is None or found.schema.type is not Type.STRUCT:
                return None
            schema = found.schema
        return schema.field(last)

    def in_struct(self, struct: str, schema: Schema, *, replace_null: bool) -> str:
        """Return the value of a field that is there."""
        for name in self.names:
            found = schema.field(name)
            assert found is not None  # the caller has looked
            is_last = name is self.names[-1]
            value = value_of(struct, found, replace_null=replace_null or not is_last)
            has_default = found.schema.default is not None
            # No default for a field of nothing: a tombstone stays one.
            struct = unless_null(struct, value) if has_default else value
            schema = found.schema
        return struct

    def in_variant(self, value: str) -> str:
        """Return the value in an object, a variant; null where there is none."""
        for name in self.names:
            value = entry(as_map(value), name)
        return value


def _names(path: str, setting: str) -> list[str]:
    names: list[str] = []
    at = 0
    while at < len(path):
        if path[at] == "`":
            name, at = _backticked(path, at, setting)
            names.append(name)
            continue
        dot = path.find(".", at)
        end = len(path) if dot < 0 else dot
        names.append(path[at:end])
        at = end + 1
    if path.endswith("."):
        names.append("")
    return names or [""]


def _backticked(path: str, opened: int, setting: str) -> tuple[str, int]:
    """Return the name between backticks, and where the next one starts."""
    name, start, at = "", opened + 1, opened + 1
    while True:
        at = path.find("`", at)
        is_escaped = at > 0 and path[at - 1] == "\\"
        is_end = at == len(path) - 1
        if at < 0 or (is_end and is_escaped):
            raise ConfigError(
                setting,
                path,
                f"the backtick at position {opened} has no other one that ends the name; put a "
                "backslash in front of it if it belongs to the name",
            )
        if is_end:
            return name + path[start:at], at + 1
        if path[at + 1] != ".":
            at += 1
        elif is_escaped:
            name += path[start : at - 1] + "`"
            at += 1
            start = at
        else:
            return name + path[start:at], at + 2
