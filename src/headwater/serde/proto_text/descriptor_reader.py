"""Reads a FileDescriptorProto back into what its .proto file said."""

from __future__ import annotations

import base64
import binascii
from functools import cache
from typing import TYPE_CHECKING

from google.protobuf import text_encoding
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.message import DecodeError

from headwater.serde.proto_text.elements import (
    Enum,
    EnumValue,
    Extend,
    Extensions,
    Field,
    Group,
    Message,
    Method,
    OneOf,
    OptionValue,
    ProtoFile,
    Range,
    Reserved,
    Service,
    Word,
)
from headwater.serde.proto_text.errors import ProtoSyntaxError
from headwater.serde.proto_text.options_message import read_options
from headwater.serde.proto_text.parser import parse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from google.protobuf.descriptor_pb2 import (
        DescriptorProto,
        EnumDescriptorProto,
        ServiceDescriptorProto,
    )
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import Message as ProtoMessage

    from headwater.serde.proto_text.elements import Option

_LABELS = {
    FieldDescriptorProto.LABEL_OPTIONAL: "optional",
    FieldDescriptorProto.LABEL_REQUIRED: "required",
    FieldDescriptorProto.LABEL_REPEATED: "repeated",
}


def parse_schema(text: str) -> ProtoFile:
    """Read a schema as clients send it: a .proto file, or a descriptor in base64."""
    try:
        return parse(text)
    except ProtoSyntaxError as failure:
        try:
            serialized = base64.b64decode("".join(text.split()), validate=True)
            descriptor = FileDescriptorProto.FromString(serialized)
        except (binascii.Error, ValueError, DecodeError):
            raise failure from None
        return from_descriptor(descriptor)


def from_descriptor(
    file: FileDescriptorProto, extensions: DescriptorPool | None = None
) -> ProtoFile:
    """Return what a descriptor's file says; types are given by their full names.

    Custom options are kept where `extensions` declares them; Confluent's are known by default.
    """
    return _Reader(file, extensions or _known_extensions()).read()


class _Reader:
    def __init__(self, file: FileDescriptorProto, extensions: DescriptorPool) -> None:
        self.file = file
        self.extensions = extensions
        self.proto3 = file.syntax == "proto3"

    def read(self) -> ProtoFile:
        file = self.file
        special = {*file.public_dependency, *file.weak_dependency}
        names = list(file.dependency)
        return ProtoFile(
            syntax=file.syntax if file.syntax in ("proto2", "proto3") else None,
            edition=_edition(file),
            package=file.package or None,
            imports=tuple(name for index, name in enumerate(names) if index not in special),
            public_imports=tuple(names[index] for index in file.public_dependency),
            weak_imports=tuple(names[index] for index in file.weak_dependency),
            options=self._options(file),
            types=self._types(file.message_type, file.enum_type),
            extends=self._extends(file.extension, {}),
            services=tuple(self._service(service) for service in file.service),
        )

    def _types(
        self, messages: Iterable[DescriptorProto], enums: Iterable[EnumDescriptorProto]
    ) -> tuple[Message | Enum, ...]:
        return (
            *[self._message(message) for message in messages],
            *[self._enum(enum) for enum in enums],
        )

    def _message(self, message: DescriptorProto) -> Message:
        nested = {each.name: each for each in message.nested_type}
        grouped = {
            field.type_name.rpartition(".")[2]
            for field in (*message.field, *message.extension)
            if field.type == FieldDescriptorProto.TYPE_GROUP
        }
        plain = [field for field in message.field if not _in_one_of(field)]
        return Message(
            message.name,
            fields=tuple(self._field(field) for field in plain if not _is_group(field)),
            one_ofs=self._one_ofs(message, nested),
            groups=tuple(self._group(field, nested) for field in plain if _is_group(field)),
            types=self._types(
                [each for each in message.nested_type if each.name not in grouped],
                message.enum_type,
            ),
            extends=self._extends(message.extension, nested),
            options=self._options(message),
            reserved=_reserved(
                [(range_.start, range_.end - 1) for range_ in message.reserved_range],
                message.reserved_name,
            ),
            extensions=tuple(
                Extensions((_range(range_.start, range_.end - 1),), self._options(range_))
                for range_ in message.extension_range
            ),
        )

    def _one_ofs(
        self, message: DescriptorProto, nested: dict[str, DescriptorProto]
    ) -> tuple[OneOf, ...]:
        found: list[OneOf] = []
        for index, one_of in enumerate(message.oneof_decl):
            members = [
                field for field in message.field if _in_one_of(field) and field.oneof_index == index
            ]
            if members:
                found.append(
                    OneOf(
                        one_of.name,
                        tuple(
                            self._field(each, bare=True) for each in members if not _is_group(each)
                        ),
                        tuple(
                            self._group(each, nested, bare=True)
                            for each in members
                            if _is_group(each)
                        ),
                        self._options(one_of),
                    )
                )
        return tuple(found)

    def _field(self, field: FieldDescriptorProto, *, bare: bool = False) -> Field:
        return Field(
            field.type_name or FieldDescriptorProto.Type.Name(field.type)[5:].lower(),
            field.name,
            field.number,
            None if bare else self._label(field),
            self._default(field),
            field.json_name if field.HasField("json_name") else None,
            self._options(field),
        )

    def _group(
        self,
        field: FieldDescriptorProto,
        nested: dict[str, DescriptorProto],
        bare: bool = False,
    ) -> Group:
        name = field.type_name.rpartition(".")[2]
        message = self._message(nested[name]) if name in nested else Message(name)
        return Group(
            field.number, message, None if bare else self._label(field), self._options(field)
        )

    def _label(self, field: FieldDescriptorProto) -> str | None:
        if field.proto3_optional:
            return "optional"
        if self.proto3 and field.label != FieldDescriptorProto.LABEL_REPEATED:
            return None
        if self.file.HasField("edition") and field.label == FieldDescriptorProto.LABEL_OPTIONAL:
            return None
        return _LABELS[field.label]

    def _default(self, field: FieldDescriptorProto) -> OptionValue | None:
        if self.proto3 or not field.HasField("default_value"):
            return None
        if field.type == FieldDescriptorProto.TYPE_BYTES:
            return text_encoding.CUnescape(field.default_value).decode("latin-1")
        if field.type == FieldDescriptorProto.TYPE_STRING:
            return field.default_value
        return Word(field.default_value)

    def _extends(
        self, fields: Iterable[FieldDescriptorProto], nested: dict[str, DescriptorProto]
    ) -> tuple[Extend, ...]:
        by_extendee: dict[str, list[FieldDescriptorProto]] = {}
        for field in fields:
            by_extendee.setdefault(field.extendee, []).append(field)
        if not nested:
            nested = {message.name: message for message in self.file.message_type}
        return tuple(
            Extend(
                extendee,
                tuple(self._field(each) for each in members if not _is_group(each)),
                tuple(self._group(each, nested) for each in members if _is_group(each)),
            )
            for extendee, members in by_extendee.items()
        )

    def _enum(self, enum: EnumDescriptorProto) -> Enum:
        return Enum(
            enum.name,
            tuple(
                EnumValue(value.name, value.number, self._options(value)) for value in enum.value
            ),
            self._options(enum),
            _reserved(
                [(range_.start, range_.end) for range_ in enum.reserved_range], enum.reserved_name
            ),
        )

    def _service(self, service: ServiceDescriptorProto) -> Service:
        methods = tuple(
            Method(
                method.name,
                method.input_type,
                method.output_type,
                method.client_streaming,
                method.server_streaming,
                self._options(method),
            )
            for method in service.method
        )
        return Service(service.name, methods, self._options(service))

    def _options(self, owner: ProtoMessage) -> tuple[Option, ...]:
        if not owner.HasField("options"):
            return ()
        return read_options(owner.options, self.extensions)  # type: ignore[attr-defined]


def _reserved(ranges: list[tuple[int, int]], names: Iterable[str]) -> tuple[Reserved, ...]:
    return (
        *[Reserved((_range(start, end),)) for start, end in ranges],
        *[Reserved((name,)) for name in names],
    )


def _range(start: int, end: int) -> Range:
    return Range(start, end, is_single=start == end)


def _in_one_of(field: FieldDescriptorProto) -> bool:
    return field.HasField("oneof_index") and not field.proto3_optional


def _is_group(field: FieldDescriptorProto) -> bool:
    return field.type == FieldDescriptorProto.TYPE_GROUP


def _edition(file: FileDescriptorProto) -> str | None:
    if file.syntax != "editions":
        return None
    from google.protobuf.descriptor_pb2 import Edition

    return Edition.Name(file.edition).removeprefix("EDITION_")


@cache
def _known_extensions() -> DescriptorPool:
    # Whose extensions are not in here is not known either, since a descriptor has only numbers.
    from headwater.serde.proto_text.descriptor_builder import build_pool
    from headwater.serde.proto_text.known import known_file

    return build_pool(known_file("confluent/meta.proto"), {}, "confluent/meta.proto")
