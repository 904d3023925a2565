"""Brings a file into a form in which the order of what has no order makes no difference."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.serde.proto_text.elements import (
    Aggregate,
    Enum,
    Extend,
    Extensions,
    Message,
    Option,
    Range,
    Reserved,
    Word,
)
from headwater.serde.proto_text.known import KNOWN_FILES, known_file
from headwater.serde.proto_text.options_message import with_full_names
from headwater.serde.proto_text.scopes import SCALARS, Scopes, inside, map_types
from headwater.serde.proto_text.writer import format_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.serde.proto_text.elements import (
        Field,
        Group,
        OneOf,
        OptionValue,
        ProtoFile,
        Service,
    )


def normalized_text(file: ProtoFile, imports: Mapping[str, ProtoFile]) -> str:
    """Return a file's normal form: full names, sorted fields, options and imports, maps as maps.

    `imports` has all files that are in reach, those that come with everything excepted. The order
    of messages and enums stays, since it is part of the wire format.
    """
    scopes = Scopes()
    for name in KNOWN_FILES - imports.keys():
        scopes.add(known_file(name))
    for imported in imports.values():
        scopes.add(imported)
    scopes.add(file)
    return format_file(_Normalizer(scopes).file(file))


class _Normalizer:
    def __init__(self, scopes: Scopes) -> None:
        self.scopes = scopes

    def file(self, file: ProtoFile) -> ProtoFile:
        package = file.package or ""
        return replace(
            file,
            syntax=file.syntax if file.syntax == "proto3" else None,
            imports=tuple(sorted(set(file.imports))),
            public_imports=tuple(sorted(set(file.public_imports))),
            weak_imports=tuple(sorted(set(file.weak_imports))),
            options=self._options(file.options, package),
            types=self._types(file.types, package),
            extends=self._extends(file.extends, package),
            services=tuple(self._service(service, package) for service in file.services),
        )

    def _types(self, types: Iterable[Message | Enum], scope: str) -> tuple[Message | Enum, ...]:
        return tuple(
            self._message(type_, scope) if isinstance(type_, Message) else self._enum(type_, scope)
            for type_ in types
            if not (isinstance(type_, Message) and type_.is_map_entry)
        )

    def _message(self, message: Message, scope: str) -> Message:
        full = inside(scope, message.name)
        return replace(
            message,
            fields=self._fields(message.fields, full),
            one_ofs=self._one_ofs(message.one_ofs, full),
            groups=self._groups(message.groups, full),
            types=self._types(message.types, full),
            extends=self._extends(message.extends, full),
            options=self._options(message.options, full),
            reserved=_reserved(message.reserved),
            extensions=tuple(
                Extensions((_single(range_),), self._options(extensions.options, full))
                for extensions, range_ in sorted(
                    (
                        (extensions, range_)
                        for extensions in message.extensions
                        for range_ in extensions.ranges
                    ),
                    key=lambda pair: pair[1].start,
                )
            ),
        )

    def _enum(self, enum: Enum, scope: str) -> Enum:
        full = inside(scope, enum.name)
        values = [replace(each, options=self._options(each.options, full)) for each in enum.values]
        return replace(
            enum,
            values=tuple(sorted(values, key=lambda value: (value.number, value.name))),
            options=self._options(enum.options, full),
            reserved=_reserved(enum.reserved),
        )

    def _fields(self, fields: Iterable[Field], scope: str) -> tuple[Field, ...]:
        return tuple(
            self._field(field, scope) for field in sorted(fields, key=lambda each: each.number)
        )

    def _field(self, field: Field, scope: str) -> Field:
        type_, label = self._type(field, scope)
        options = list(field.options)
        # What a field says about itself in brackets has no order either.
        if field.default is not None:
            options.append(Option("default", field.default))
        if field.json_name is not None:
            options.append(Option("json_name", field.json_name))
        return replace(
            field,
            type=type_,
            label=label,
            default=None,
            json_name=None,
            options=self._options(options, scope),
        )

    def _type(self, field: Field, scope: str) -> tuple[str, str | None]:
        maps = map_types(field.type)
        if maps is None and field.type not in SCALARS:
            full = self.scopes.require(field.type, scope, inside(scope, field.name))
            entry = self.scopes.types[full]
            if not (isinstance(entry, Message) and entry.is_map_entry):
                return f".{full}", field.label
            by_name = {each.name: each.type for each in entry.fields}
            maps = by_name.get("key", ""), by_name.get("value", "")
        if maps is None:
            return field.type, field.label
        key, value = maps
        if value not in SCALARS:
            value = "." + self.scopes.require(value, scope, inside(scope, field.name))
        return f"map<{key}, {value}>", None

    def _one_ofs(self, one_ofs: Iterable[OneOf], scope: str) -> tuple[OneOf, ...]:
        sorted_inside = [
            replace(
                one_of,
                fields=self._fields(one_of.fields, scope),
                groups=self._groups(one_of.groups, scope),
                options=self._options(one_of.options, scope),
            )
            for one_of in one_ofs
            if one_of.fields or one_of.groups
        ]
        return tuple(sorted(sorted_inside, key=_first_number))

    def _groups(self, groups: Iterable[Group], scope: str) -> tuple[Group, ...]:
        return tuple(
            replace(
                group,
                message=self._message(group.message, scope),
                options=self._options(group.options, scope),
            )
            for group in sorted(groups, key=lambda each: each.number)
        )

    def _extends(self, extends: Iterable[Extend], scope: str) -> tuple[Extend, ...]:
        merged: dict[str, tuple[list[Field], list[Group]]] = {}
        for extend in extends:
            full = self.scopes.require(extend.extendee, scope, f"extend {extend.extendee}")
            fields, groups = merged.setdefault(f".{full}", ([], []))
            fields += extend.fields
            groups += extend.groups
        return tuple(
            Extend(extendee, self._fields(fields, scope), self._groups(groups, scope))
            for extendee, (fields, groups) in merged.items()
        )

    def _service(self, service: Service, scope: str) -> Service:
        full = inside(scope, service.name)
        methods = tuple(
            replace(
                method,
                request="." + self.scopes.require(method.request, full, f"rpc {method.name}"),
                response="." + self.scopes.require(method.response, full, f"rpc {method.name}"),
                options=self._options(method.options, full),
            )
            for method in service.methods
        )
        return replace(service, methods=methods, options=self._options(service.options, full))

    def _options(self, options: Iterable[Option], scope: str) -> tuple[Option, ...]:
        merged: dict[tuple[str, int], Option] = {}
        for number, option in enumerate(options):
            if not option.is_extension:
                merged[option.name, number] = replace(option, value=_sorted_value(option.value))
                continue
            full = self.scopes.resolve_extension(option.name, scope)
            if full is None:
                merged[option.name, number] = option
                continue
            value = with_full_names(option, self.scopes, scope)
            declared = self.scopes.extensions[full]
            key = (full, number if declared.label == "repeated" else 0)
            if key in merged:
                value = self._merge(declared, merged[key].value, value)
            merged[key] = Option(full, value, is_extension=True)
        found = sorted(merged.values(), key=lambda option: option.name)
        return tuple(replace(option, value=_sorted_value(option.value)) for option in found)

    def _merge(self, field: Field | None, first: OptionValue, second: OptionValue) -> OptionValue:
        if field is not None and field.label != "repeated":
            if isinstance(first, Aggregate) and isinstance(second, Aggregate):
                return self._merge_aggregates(field, first, second)
            return second
        before = first if isinstance(first, tuple) else (first,)
        after = second if isinstance(second, tuple) else (second,)
        merged: list[OptionValue] = []
        for value in (*before, *after):
            if value not in merged:
                merged.append(value)
        return tuple(merged)

    def _merge_aggregates(self, field: Field, first: Aggregate, second: Aggregate) -> Aggregate:
        full = self.scopes.resolve(field.type, "")
        message = self.scopes.types.get(full or "")
        inner: dict[str, Field] = {}
        if isinstance(message, Message):
            inner = {each.name: each for each in message.fields}
            inner |= {each.name: each for one_of in message.one_ofs for each in one_of.fields}
        entries = dict(first.entries)
        for key, value in second.entries.items():
            if key in entries:
                entries[key] = self._merge(inner.get(key), entries[key], value)
            else:
                entries[key] = value
        return Aggregate(entries)


def _sorted_value(value: OptionValue) -> OptionValue:
    if isinstance(value, Aggregate):
        entries = {
            key: _sorted_value(each) for key, each in sorted(value.entries.items()) if each != ()
        }
        # A list of one is written as that one, which means the same.
        return Aggregate(
            {
                key: each[0] if isinstance(each, tuple) and len(each) == 1 else each
                for key, each in entries.items()
            }
        )
    if isinstance(value, tuple):
        return tuple(_sorted_value(each) for each in value)
    return Word(_plain_number(value.text)) if isinstance(value, Word) else value


def _plain_number(text: str) -> str:
    try:
        number = float(text)
    except ValueError:
        return text
    if number != number or number in (float("inf"), float("-inf")):
        return text
    if text.lstrip("+-").isdigit():
        return str(int(text))
    return str(int(number)) if number.is_integer() else repr(number)


def _reserved(reserved: Iterable[Reserved]) -> tuple[Reserved, ...]:
    values = [
        value if isinstance(value, str) else _single(value)
        for each in reserved
        for value in each.values
    ]
    numbers = sorted((each for each in values if isinstance(each, Range)), key=lambda r: r.start)
    names = sorted(each for each in values if isinstance(each, str))
    return (*[Reserved((number,)) for number in numbers], *[Reserved((name,)) for name in names])


def _single(range_: Range) -> Range:
    return Range(range_.start, range_.end, is_single=range_.start == range_.end)


def _first_number(one_of: OneOf) -> int:
    numbers = [field.number for field in one_of.fields] or [group.number for group in one_of.groups]
    return numbers[0]
