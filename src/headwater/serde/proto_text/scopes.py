"""Finds out which type a name means, seen from where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.serde.proto_text.elements import Message
from headwater.serde.proto_text.errors import UnknownTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from headwater.serde.proto_text.elements import Enum, Extend, Field, Group, ProtoFile

SCALARS = frozenset(
    {
        "double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32",
        "fixed64", "sfixed32", "sfixed64", "bool", "string", "bytes",
    }
)  # fmt: skip


@dataclass(slots=True)
class Scopes:
    """Types and extensions by their full names, e.g. `google.protobuf.Timestamp`."""

    types: dict[str, Message | Enum] = field(default_factory=dict)
    extensions: dict[str, Field] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Iterable[ProtoFile]) -> Scopes:
        """Collect what several files declare."""
        scopes = cls()
        for file in files:
            scopes.add(file)
        return scopes

    def add(self, file: ProtoFile) -> None:
        """Add what one more file declares."""
        package = file.package or ""
        self._add_types(package, file.types)
        self._add_extends(package, file.extends)

    def resolve(self, name: str, scope: str) -> str | None:
        """Return the full name of a type as seen from a scope, the innermost one first."""
        return _search(self.types, name, scope)

    def resolve_extension(self, name: str, scope: str) -> str | None:
        """Return the full name of an extension as seen from a scope."""
        return _search(self.extensions, name, scope)

    def require(self, name: str, scope: str, place: str) -> str:
        """Return the full name of a type or raise UnknownTypeError."""
        found = self.resolve(name, scope)
        if found is None:
            raise UnknownTypeError(
                f"{place}: there is no type '{name}' in reach. "
                "Is an import missing, or the reference that belongs to it?"
            )
        return found

    def _add_types(self, scope: str, types: Iterable[Message | Enum]) -> None:
        for type_ in types:
            name = inside(scope, type_.name)
            self.types[name] = type_
            if isinstance(type_, Message):
                self._add_types(name, type_.types)
                self._add_types(name, (group.message for group in groups_of(type_)))
                self._add_extends(name, type_.extends)

    def _add_extends(self, scope: str, extends: Iterable[Extend]) -> None:
        for extend in extends:
            for each in extend.fields:
                self.extensions[inside(scope, each.name)] = each
            self._add_types(scope, (group.message for group in extend.groups))


def inside(scope: str, name: str) -> str:
    """Return the full name of what is declared in a scope."""
    return f"{scope}.{name}" if scope else name


def groups_of(message: Message) -> Iterator[Group]:
    """Return a message's groups, those in its oneofs included."""
    yield from message.groups
    for one_of in message.one_ofs:
        yield from one_of.groups


def map_types(type_: str) -> tuple[str, str] | None:
    """Return the types of a map's keys and values, or None for what is no map."""
    if not type_.startswith("map<"):
        return None
    key, _, value = type_[4:-1].partition(",")
    return key.strip(), value.strip()


def _search(
    known: dict[str, Message | Enum] | dict[str, Field], name: str, scope: str
) -> str | None:
    if name.startswith("."):
        return name[1:] if name[1:] in known else None
    while scope:
        if (candidate := f"{scope}.{name}") in known:
            return candidate
        scope = scope.rpartition(".")[0]
    return name if name in known else None
