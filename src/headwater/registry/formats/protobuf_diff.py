"""Compares two Protobuf schemas: can data of the older one be read with the newer one?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from headwater.serde.proto_text.elements import Enum, Field, Message
from headwater.serde.proto_text.scopes import SCALARS, Scopes, groups_of, inside, map_types

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.serde.proto_text.elements import OneOf, ProtoFile

# Types within one group are encoded alike, so that one can be read as another.
_WIRE_KINDS = {
    **dict.fromkeys(("int32", "int64", "uint32", "uint64", "bool"), "varint"),
    **dict.fromkeys(("sint32", "sint64"), "zigzag varint"),
    **dict.fromkeys(("string", "bytes"), "string or bytes"),
    **dict.fromkeys(("fixed32", "sfixed32"), "fixed 32 bits"),
    **dict.fromkeys(("fixed64", "sfixed64"), "fixed 64 bits"),
    "float": "float",
    "double": "double",
}


class Difference(NamedTuple):
    """An incompatible change: its kind (Confluent's name), where it is, and what is affected."""

    kind: str
    path: str
    subject: str


@dataclass(slots=True)
class Side:
    """One of the two schemas with everything that it can see."""

    file: ProtoFile
    scopes: Scopes
    local: frozenset[str]  # full names of the types declared in the file itself
    packages: dict[str, str]  # the package of each type

    @classmethod
    def of(cls, file: ProtoFile, imports: Mapping[str, ProtoFile]) -> Side:
        """Collect the types of a file and of what it imports."""
        scopes = Scopes.of([*imports.values(), file])
        packages: dict[str, str] = {}
        for each in (*imports.values(), file):
            own = Scopes.of([each])
            packages |= dict.fromkeys(own.types, each.package or "")
        return cls(file, scopes, frozenset(Scopes.of([file]).types), packages)

    def local_name(self, full: str) -> str:
        """Return a type's name without its package."""
        package = self.packages.get(full, "")
        return full.removeprefix(f"{package}.") if package else full


def differences(old: Side, new: Side) -> list[Difference]:
    """Return the incompatible changes; none means compatible."""
    comparison = _Comparison(old, new)
    if old.file.package != new.file.package:
        comparison.add("PACKAGE_CHANGED", "#/", f"{old.file.package}, now {new.file.package}")
    package_of_old, package_of_new = old.file.package or "", new.file.package or ""
    comparison.compare_types(old.file.types, new.file.types, package_of_old, package_of_new, "#")
    return comparison.found


@dataclass(slots=True)
class _Comparison:
    old: Side
    new: Side
    found: list[Difference] = field(default_factory=list)
    # What is being compared or was: where a type is used again, it is as compatible as before.
    _incompatible: dict[tuple[int, int], bool] = field(default_factory=dict)

    def add(self, kind: str, path: str, subject: str) -> None:
        self.found.append(Difference(kind, path, subject))

    def compare_types(
        self,
        old: Iterable[Message | Enum],
        new: Iterable[Message | Enum],
        old_scope: str,
        new_scope: str,
        path: str,
    ) -> None:
        newer = {type_.name: type_ for type_ in new if isinstance(type_, Message)}
        for message in old:
            if not isinstance(message, Message):
                continue  # the values of an enum travel as numbers, so that any change can be read
            where = f"{path}/{message.name}"
            match = newer.get(message.name)
            if match is not None:
                self.compare_messages(message, match, old_scope, new_scope, where)
            elif not message.is_map_entry:
                self.add("MESSAGE_REMOVED", where, message.name)

    def compare_messages(
        self, old: Message, new: Message, old_scope: str, new_scope: str, path: str
    ) -> None:
        known = len(self.found)
        self._incompatible[id(old), id(new)] = False
        _compare_fields(
            self, _Members.of(old), _Members.of(new), inside(old_scope, old.name),
            inside(new_scope, new.name), path,
        )  # fmt: skip
        self.compare_types(
            old.types, new.types, inside(old_scope, old.name), inside(new_scope, new.name), path
        )
        self._incompatible[id(old), id(new)] = len(self.found) > known

    def compare_field(
        self, old: Field, new: Field, old_scope: str, new_scope: str, path: str
    ) -> None:
        subject = f"{old.name} = {old.number}"
        labels = (old.label, new.label)
        self.compare_type(old.type, new.type, old_scope, new_scope, path, subject, labels)

    def compare_type(
        self,
        old: str,
        new: str,
        old_scope: str,
        new_scope: str,
        path: str,
        subject: str,
        labels: tuple[str | None, str | None],
    ) -> None:
        old_map, new_map = _as_map(self.old, old, old_scope), _as_map(self.new, new, new_scope)
        if old_map is not None and new_map is not None:
            for before, after in zip(old_map, new_map, strict=True):
                self.compare_type(before, after, old_scope, new_scope, path, subject, (None, None))
            return
        kinds = _kind(self.old, old, old_scope, old_map), _kind(self.new, new, new_scope, new_map)
        if kinds[0] != kinds[1]:
            self.add("FIELD_KIND_CHANGED", path, f"{subject} from {old} to {new}")
        elif kinds[0] == "scalar":
            self._compare_scalars(old, new, path, subject, labels)
        else:
            self._compare_named(old, new, old_scope, new_scope, path, subject)

    def _compare_scalars(
        self,
        old: str,
        new: str,
        path: str,
        subject: str,
        labels: tuple[str | None, str | None],
    ) -> None:
        # What is no scalar here is an enum, which travels as a varint.
        wires = _WIRE_KINDS.get(old, "varint"), _WIRE_KINDS.get(new, "varint")
        if wires[0] != wires[1]:
            self.add("FIELD_SCALAR_KIND_CHANGED", path, f"{subject} from {old} to {new}")
        elif None not in labels and labels[0] != labels[1] and wires[0] != "string or bytes":
            self.add(
                "FIELD_NUMERIC_LABEL_CHANGED", path, f"{subject} from {labels[0]} to {labels[1]}"
            )

    def _compare_named(
        self, old: str, new: str, old_scope: str, new_scope: str, path: str, subject: str
    ) -> None:
        before = self.old.scopes.resolve(old, old_scope)
        after = self.new.scopes.resolve(new, new_scope)
        if before is None or after is None:
            if old != new:
                self.add("FIELD_NAMED_TYPE_CHANGED", path, f"{subject} from {old} to {new}")
            return
        if self.old.local_name(before) != self.new.local_name(after):
            self.add("FIELD_NAMED_TYPE_CHANGED", path, f"{subject} from {before} to {after}")
            return
        if before in self.old.local and after in self.new.local:
            return  # compared where it is declared
        old_type, new_type = self.old.scopes.types[before], self.new.scopes.types[after]
        if isinstance(old_type, Message) and isinstance(new_type, Message):
            if (id(old_type), id(new_type)) not in self._incompatible:
                where = "#/" + self.old.local_name(before).replace(".", "/")
                scopes = before.rpartition(".")[0], after.rpartition(".")[0]
                self.compare_messages(old_type, new_type, *scopes, where)
            if self._incompatible[id(old_type), id(new_type)]:
                self.add("FIELD_NAMED_TYPE_CHANGED", path, f"{subject} of type {after}")


@dataclass(slots=True)
class _Members:
    """A message's fields by their numbers, whichever oneof they are in."""

    by_number: dict[int, Field] = field(default_factory=dict)
    one_of: dict[int, str] = field(default_factory=dict)
    one_ofs: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, message: Message) -> _Members:
        members = cls({each.number: each for each in message.fields})
        for group in groups_of(message):
            members.by_number[group.number] = Field(
                group.message.name, group.message.name.lower(), group.number, group.label
            )
        for one_of in message.one_ofs:
            numbers = _numbers(one_of)
            members.one_ofs[one_of.name] = numbers
            members.one_of |= dict.fromkeys(numbers, one_of.name)
            members.by_number |= {each.number: each for each in one_of.fields}
        return members


def _compare_fields(
    comparison: _Comparison,
    old: _Members,
    new: _Members,
    old_scope: str,
    new_scope: str,
    path: str,
) -> None:
    for name, numbers in new.one_ofs.items():
        _compare_one_of(comparison, old, numbers, f"{path}/{name}", name)
    deleted = {
        name
        for name, numbers in old.one_ofs.items()
        if name not in new.one_ofs and not any(number in new.by_number for number in numbers)
    }
    for number in sorted(old.by_number | new.by_number):
        before, after = old.by_number.get(number), new.by_number.get(number)
        if before is not None and after is None:
            one_of = old.one_of.get(number)
            if one_of is not None and one_of not in deleted:
                where = f"{path}/{one_of}/{number}"
                comparison.add("ONEOF_FIELD_REMOVED", where, f"{before.name} = {number}")
            elif one_of is None and before.label == "required":
                where = f"{path}/{number}"
                comparison.add("REQUIRED_FIELD_REMOVED", where, f"{before.name} = {number}")
        elif after is not None and before is None:
            if number not in new.one_of and after.label == "required":
                where = f"{path}/{number}"
                comparison.add("REQUIRED_FIELD_ADDED", where, f"{after.name} = {number}")
        elif before is not None and after is not None:
            one_of = new.one_of.get(number)
            where = f"{path}/{one_of}/{number}" if one_of else f"{path}/{number}"
            comparison.compare_field(before, after, old_scope, new_scope, where)


def _compare_one_of(
    comparison: _Comparison, old: _Members, numbers: list[int], path: str, name: str
) -> None:
    # Fields that could be set together before must not exclude each other now.
    known = [number for number in numbers if number in old.by_number]
    alone = [number for number in known if number not in old.one_of]
    origins = {old.one_of[number] for number in known if number in old.one_of} | set(alone)
    if len(origins) > 1:
        names = ", ".join(old.by_number[number].name for number in known)
        comparison.add(
            "MULTIPLE_FIELDS_MOVED_TO_ONEOF" if len(alone) > 1 else "FIELD_MOVED_TO_EXISTING_ONEOF",
            path,
            f"{names} in oneof {name}",
        )


def _numbers(one_of: OneOf) -> list[int]:
    return [field.number for field in one_of.fields] + [group.number for group in one_of.groups]


def _as_map(side: Side, type_: str, scope: str) -> tuple[str, str] | None:
    found = map_types(type_)
    if found is not None or type_ in SCALARS:
        return found
    full = side.scopes.resolve(type_, scope)
    entry = side.scopes.types.get(full or "")
    if not isinstance(entry, Message) or not entry.is_map_entry:
        return None
    types = {each.name: each.type for each in entry.fields}
    return types.get("key", ""), types.get("value", "")


def _kind(side: Side, type_: str, scope: str, maps: tuple[str, str] | None) -> str:
    if maps is not None:
        return "map"
    if type_ in SCALARS:
        return "scalar"
    full = side.scopes.resolve(type_, scope)
    return "scalar" if isinstance(side.scopes.types.get(full or ""), Enum) else "message"
