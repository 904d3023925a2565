"""Schemas: subjects and their versions, what differs, and what may be registered."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from headwater.console.model.paging import Page, Wanted, page_of
from headwater.serde.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.serde import SchemaRegistryClient
    from headwater.serde.registry_client import Compatibility
    from headwater.serde.schema import RegisteredSchema, SchemaType


class DiffLine(NamedTuple):
    """A line of two versions side by side; None where one of them has none."""

    left: str | None
    right: str | None
    is_changed: bool


@dataclass(frozen=True)
class Subject:
    """A subject with its versions."""

    name: str
    versions: Sequence[int]
    compatibility: str
    is_own_level: bool


class Schemas:
    """All methods block."""

    def __init__(self, registry: SchemaRegistryClient) -> None:
        self._registry = registry
        self.urls = registry.urls

    def page(self, wanted: Wanted) -> Page[str]:
        """Return a page of the subjects' names."""
        return page_of(self._registry.get_subjects(), wanted, str, {})

    def subject(self, name: str) -> Subject:
        """Return a subject; raises RegistryError."""
        own = self._registry.get_own_compatibility(name)
        level = own or self._registry.get_compatibility()
        return Subject(name, self._registry.get_versions(name), level, own is not None)

    def version(self, name: str, version: int) -> RegisteredSchema:
        """Return a version of a subject."""
        return self._registry.get_version(name, version)

    def check(self, name: str, text: str, kind: SchemaType) -> Compatibility:
        """Ask whether a schema could be registered; nothing is."""
        return self._registry.check_compatibility(name, Schema(text.strip(), kind))

    def register(self, name: str, text: str, kind: SchemaType) -> int:
        """Register a schema, and return its id."""
        found = self._registry.register_schema(name, Schema(text.strip(), kind))
        self._registry.forget()
        return found


def readable(schema: Schema) -> str:
    """Return a schema's text on many lines."""
    if schema.type == "PROTOBUF":
        return schema.text
    try:
        return json.dumps(json.loads(schema.text), indent=2, ensure_ascii=False)
    except ValueError:
        return schema.text


def side_by_side(left: str, right: str) -> list[DiffLine]:
    """Return two texts with what is alike on one line.

    >>> side_by_side("a\\nb", "a\\nc")[1]
    DiffLine(left='b', right='c', is_changed=True)
    """
    old, new = left.splitlines(), right.splitlines()
    lines: list[DiffLine] = []
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        pairs = zip_longest(old[a:b], new[c:d])
        lines += [DiffLine(before, after, tag != "equal") for before, after in pairs]
    return lines
