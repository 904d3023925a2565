"""Turns a parsed file into a FileDescriptorProto, and files into a pool that can make messages."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from google.protobuf import descriptor_pb2, text_encoding
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from headwater.serde.proto_text.elements import Message, Word
from headwater.serde.proto_text.errors import (
    InvalidOptionError,
    InvalidProtoError,
    MissingImportError,
    UnknownTypeError,
)
from headwater.serde.proto_text.known import KNOWN_FILES, google_descriptor, known_file
from headwater.serde.proto_text.options_message import is_custom, set_custom_options, set_options
from headwater.serde.proto_text.scopes import SCALARS, Scopes, inside, map_types

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from google.protobuf.message import Message as ProtoMessage

    from headwater.serde.proto_text.elements import (
        Enum,
        Extend,
        Field,
        Group,
        OneOf,
        Option,
        OptionValue,
        ProtoFile,
        Service,
    )

_LABELS = {
    "optional": FieldDescriptorProto.LABEL_OPTIONAL,
    "required": FieldDescriptorProto.LABEL_REQUIRED,
    "repeated": FieldDescriptorProto.LABEL_REPEATED,
}
_NO_MAP_KEYS = frozenset({"double", "float", "bytes"})


def to_descriptor(
    file: ProtoFile, imports: Mapping[str, ProtoFile], name: str = "default"
) -> FileDescriptorProto:
    """Return a file's descriptor; `imports` has the files it needs, by the names it imports.

    A file that is imported, missing, and not needed for anything is passed over, as Confluent's
    registry does.
    """
    with _only_needed(file, imports) as (own, given):
        return _Builder(name, own, given, DescriptorPool()).build()


def build_pool(
    file: ProtoFile, imports: Mapping[str, ProtoFile], name: str = "default"
) -> DescriptorPool:
    """Return a pool with a file and all that it imports, checked by the protobuf library."""
    pool = DescriptorPool()
    with _only_needed(file, imports) as (own, given):
        builder = _Builder(name, own, given, pool)
        descriptor = builder.build()
        builder.add_to_pool(descriptor)
    return pool


@contextmanager
def _only_needed(
    file: ProtoFile, imports: Mapping[str, ProtoFile]
) -> Iterator[tuple[ProtoFile, dict[str, ProtoFile]]]:
    """Leave out imports of files that are not there; where that is why it fails, say so."""
    missing: list[str] = []

    def present(importer: str, names: tuple[str, ...]) -> tuple[str, ...]:
        absent = [name for name in names if name not in imports and name not in KNOWN_FILES]
        missing.extend(f"{importer} imports {name}" for name in absent)
        return tuple(name for name in names if name not in absent)

    def reduced(importer: str, each: ProtoFile) -> ProtoFile:
        return replace(
            each,
            imports=present(importer, each.imports),
            public_imports=present(importer, each.public_imports),
            weak_imports=present(importer, each.weak_imports),
        )

    own = reduced("the schema", file)
    given = {name: reduced(name, each) for name, each in imports.items()}
    try:
        yield own, given
    except (UnknownTypeError, InvalidOptionError) as failure:
        if not missing:
            raise
        raise MissingImportError(
            f"{missing[0]}, but no reference has that name. {failure}"
        ) from None


class _Builder:
    def __init__(
        self, name: str, file: ProtoFile, imports: Mapping[str, ProtoFile], pool: DescriptorPool
    ) -> None:
        self.name = name
        self.file = file
        self.imports = imports
        self.pool = pool
        self.scopes = Scopes()
        self.customised: list[tuple[ProtoMessage, tuple[Option, ...], str, str]] = []
        self.added: set[str] = set()
        self._proto3 = file.syntax == "proto3"

    def build(self) -> FileDescriptorProto:
        self.add_dependencies(self.file, (self.name,))
        self.scopes.add(self.file)
        descriptor = self._file_descriptor()
        if self.customised:
            self._set_custom_options(descriptor)
        return descriptor

    def add_to_pool(self, descriptor: FileDescriptorProto) -> None:
        try:
            self.pool.AddSerializedFile(descriptor.SerializeToString())
        except (TypeError, KeyError) as failure:
            reason = str(failure).removeprefix("Couldn't build proto file into descriptor pool: ")
            raise InvalidProtoError(f"{descriptor.name}: {reason}") from None

    def add_dependencies(self, file: ProtoFile, path: tuple[str, ...]) -> None:
        for name in file.all_imports:
            if name in path:
                raise InvalidProtoError(f"files import each other: {' -> '.join((*path, name))}")
            if name in self.added:
                continue
            self.added.add(name)
            if name not in self.imports and name.startswith("google/protobuf/"):
                descriptor = google_descriptor(name)
                self.add_dependencies(known_file(name), (*path, name))
                self.scopes.add(known_file(name))
            else:
                imported = self.imports[name] if name in self.imports else known_file(name)
                self.add_dependencies(imported, (*path, name))
                builder = _Builder(name, imported, self.imports, self.pool)
                builder.scopes = self.scopes
                builder.added = self.added
                descriptor = builder.build()
            self.add_to_pool(descriptor)

    def _set_custom_options(self, descriptor: FileDescriptorProto) -> None:
        # Extensions may be declared in this very file, so its bare form goes into a pool first.
        own = DescriptorPool()
        adder = _Builder(self.name, self.file, self.imports, own)
        if "google/protobuf/descriptor.proto" not in self.file.all_imports:
            adder.add_to_pool(google_descriptor("google/protobuf/descriptor.proto"))
            adder.added.add("google/protobuf/descriptor.proto")
            adder.scopes.add(known_file("google/protobuf/descriptor.proto"))
        adder.add_dependencies(self.file, (self.name,))
        adder.add_to_pool(descriptor)
        for target, options, scope, place in self.customised:
            set_custom_options(target, options, self.scopes, scope, own, place)

    def _file_descriptor(self) -> FileDescriptorProto:
        file = self.file
        target = FileDescriptorProto(name=self.name)
        package = file.package or ""
        if package:
            target.package = package
        target.dependency.extend(file.all_imports)
        first_public = len(file.imports)
        first_weak = first_public + len(file.public_imports)
        target.public_dependency.extend(range(first_public, first_weak))
        target.weak_dependency.extend(range(first_weak, len(file.all_imports)))
        if file.edition is not None:
            target.syntax = "editions"
            target.edition = _edition(file.edition)
        elif file.syntax is not None:
            target.syntax = file.syntax
        self._types(package, file.types, target)
        for service in file.services:
            self._service(service, package, target)
        self._extends(package, file.extends, target)
        self._options(target, file.options, package, "the file")
        return target

    def _types(
        self,
        scope: str,
        types: Iterable[Message | Enum],
        target: FileDescriptorProto | descriptor_pb2.DescriptorProto,
    ) -> None:
        is_file = isinstance(target, FileDescriptorProto)
        for type_ in types:
            if isinstance(type_, Message):
                messages = target.message_type if is_file else target.nested_type  # type: ignore[union-attr]
                self._message(type_, inside(scope, type_.name), messages.add())
            else:
                self._enum(type_, scope, target.enum_type.add())

    def _message(self, message: Message, full: str, target: descriptor_pb2.DescriptorProto) -> None:
        target.name = message.name
        place = f"message {full}"
        for field in message.fields:
            self._field(field, full, target.field.add(), target)
        for one_of in message.one_ofs:
            self._one_of(one_of, full, target)
        for group in message.groups:
            self._group(group, full, target.field.add(), target)
        self._types(full, message.types, target)
        self._extends(full, message.extends, target)
        for extensions in message.extensions:
            for range_ in extensions.ranges:
                added = target.extension_range.add(start=range_.start, end=range_.end + 1)
                self._options(added, extensions.options, full, place)
        for reserved in message.reserved:
            for value in reserved.values:
                if isinstance(value, str):
                    target.reserved_name.append(value)
                else:
                    target.reserved_range.add(start=value.start, end=value.end + 1)
        self._options(target, message.options, full, place)
        self._synthetic_one_ofs(message, target)

    def _synthetic_one_ofs(self, message: Message, target: descriptor_pb2.DescriptorProto) -> None:
        # How proto3 keeps whether an optional field was set: a oneof of its own, behind all others.
        taken = {field.name for field in target.field} | {each.name for each in target.oneof_decl}
        for field in target.field:
            if field.proto3_optional:
                name = f"_{field.name}"
                while name in taken:
                    name = f"X{name}"
                taken.add(name)
                field.oneof_index = len(target.oneof_decl)
                target.oneof_decl.add(name=name)

    def _field(
        self,
        field: Field,
        scope: str,
        target: FieldDescriptorProto,
        owner: descriptor_pb2.DescriptorProto | None,
    ) -> None:
        place = f"{inside(scope, field.name)} = {field.number}"
        target.name = field.name
        target.number = field.number
        target.label = _LABELS[field.label or "optional"]
        maps = map_types(field.type)
        if maps is not None:
            if owner is None or field.label is not None:
                raise InvalidProtoError(f"{place}: a map can neither extend nor have a label")
            target.label = FieldDescriptorProto.LABEL_REPEATED
            self._map_entry(field, maps, scope, target, owner, place)
        else:
            self._set_type(target, field.type, scope, place)
            if self._proto3 and field.label == "optional" and owner is not None:
                target.proto3_optional = True
        if field.default is not None:
            target.default_value = _default(field.default, target)
        if field.json_name is not None:
            target.json_name = field.json_name
        self._options(target, field.options, scope, place)

    def _set_type(self, target: FieldDescriptorProto, type_: str, scope: str, place: str) -> None:
        if type_ in SCALARS:
            target.type = FieldDescriptorProto.Type.Value(f"TYPE_{type_.upper()}")
            return
        full = self.scopes.require(type_, scope, place)
        is_message = isinstance(self.scopes.types[full], Message)
        target.type = (
            FieldDescriptorProto.TYPE_MESSAGE if is_message else FieldDescriptorProto.TYPE_ENUM
        )
        target.type_name = f".{full}"

    def _map_entry(
        self,
        field: Field,
        maps: tuple[str, str],
        scope: str,
        target: FieldDescriptorProto,
        owner: descriptor_pb2.DescriptorProto,
        place: str,
    ) -> None:
        key, value = maps
        if key not in SCALARS or key in _NO_MAP_KEYS:
            raise InvalidProtoError(f"{place}: {key} cannot be the type of a map's keys")
        entry = owner.nested_type.add(name=f"{_camel_case(field.name)}Entry")
        entry.options.map_entry = True
        optional = FieldDescriptorProto.LABEL_OPTIONAL
        self._set_type(entry.field.add(name="key", number=1, label=optional), key, scope, place)
        self._set_type(entry.field.add(name="value", number=2, label=optional), value, scope, place)
        target.type = FieldDescriptorProto.TYPE_MESSAGE
        target.type_name = f".{inside(scope, entry.name)}"

    def _one_of(self, one_of: OneOf, scope: str, owner: descriptor_pb2.DescriptorProto) -> None:
        index = len(owner.oneof_decl)
        declared = owner.oneof_decl.add(name=one_of.name)
        place = f"oneof {inside(scope, one_of.name)}"
        self._options(declared, one_of.options, scope, place)
        if not one_of.fields and not one_of.groups:
            raise InvalidProtoError(f"{place}: a oneof has at least one field")
        for field in one_of.fields:
            target = owner.field.add()
            self._field(field, scope, target, None)
            target.oneof_index = index
        for group in one_of.groups:
            target = owner.field.add()
            self._group(group, scope, target, owner)
            target.oneof_index = index

    def _group(
        self,
        group: Group,
        scope: str,
        target: FieldDescriptorProto,
        owner: descriptor_pb2.DescriptorProto | FileDescriptorProto,
    ) -> None:
        full = inside(scope, group.message.name)
        target.name = group.message.name.lower()
        target.number = group.number
        target.label = _LABELS[group.label or "optional"]
        target.type = FieldDescriptorProto.TYPE_GROUP
        target.type_name = f".{full}"
        self._options(target, group.options, scope, f"group {full}")
        self._types(scope, (group.message,), owner)

    def _extends(
        self,
        scope: str,
        extends: Iterable[Extend],
        target: FileDescriptorProto | descriptor_pb2.DescriptorProto,
    ) -> None:
        for extend in extends:
            extendee = self.scopes.require(extend.extendee, scope, f"extend {extend.extendee}")
            for field in extend.fields:
                added = target.extension.add(extendee=f".{extendee}")
                self._field(field, scope, added, None)
            for group in extend.groups:
                added = target.extension.add(extendee=f".{extendee}")
                self._group(group, scope, added, target)

    def _enum(self, enum: Enum, scope: str, target: descriptor_pb2.EnumDescriptorProto) -> None:
        target.name = enum.name
        place = f"enum {inside(scope, enum.name)}"
        for value in enum.values:
            added = target.value.add(name=value.name, number=value.number)
            self._options(added, value.options, scope, f"{place}, {value.name}")
        for reserved in enum.reserved:
            for each in reserved.values:
                if isinstance(each, str):
                    target.reserved_name.append(each)
                else:
                    target.reserved_range.add(start=each.start, end=each.end)
        self._options(target, enum.options, scope, place)

    def _service(self, service: Service, scope: str, target: FileDescriptorProto) -> None:
        added = target.service.add(name=service.name)
        full = inside(scope, service.name)
        for method in service.methods:
            place = f"rpc {full}.{method.name}"
            types = [
                f".{self.scopes.require(name, full, place)}"
                for name in (method.request, method.response)
            ]
            rpc = added.method.add(name=method.name, input_type=types[0], output_type=types[1])
            if method.streams_request:
                rpc.client_streaming = True
            if method.streams_response:
                rpc.server_streaming = True
            self._options(rpc, method.options, full, place)
        self._options(added, service.options, full, f"service {full}")

    def _options(
        self, owner: ProtoMessage, options: tuple[Option, ...], scope: str, place: str
    ) -> None:
        if not options:
            return
        target: ProtoMessage = owner.options  # type: ignore[attr-defined]
        set_options(target, options, place)
        if any(map(is_custom, options)):
            self.customised.append((target, options, scope, place))


def _default(value: OptionValue, target: FieldDescriptorProto) -> str:
    is_text = target.type in (FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_BYTES)
    if isinstance(value, Word) and not is_text:
        return value.text
    if not isinstance(value, str) or not is_text:
        raise InvalidProtoError(f"{target.name} = {target.number}: its default is of another type")
    if target.type == FieldDescriptorProto.TYPE_BYTES:
        narrow = all(ord(character) < 256 for character in value)
        encoded = value.encode("latin-1" if narrow else "utf-8")
        return str(text_encoding.CEscape(encoded, as_utf8=False))
    return value


def _camel_case(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _edition(edition: str) -> descriptor_pb2.Edition.ValueType:
    try:
        return descriptor_pb2.Edition.Value(f"EDITION_{edition}")
    except ValueError:
        raise InvalidProtoError(f"there is no edition '{edition}'") from None
