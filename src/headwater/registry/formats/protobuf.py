"""Protobuf: .proto files, compared field by field as they travel on the wire."""

from __future__ import annotations

import base64
from functools import cached_property
from typing import TYPE_CHECKING

from headwater.registry.formats.base import (
    Incompatibility,
    InvalidSchemaError,
    ParsedSchema,
    SchemaFormat,
)
from headwater.registry.formats.protobuf_diff import Side, differences
from headwater.serde.proto_text import (
    KNOWN_FILES,
    ProtoError,
    ProtoFile,
    build_pool,
    format_file,
    normalized_text,
    parse_schema,
    to_descriptor,
)
from headwater.serde.proto_text.elements import Message
from headwater.serde.proto_text.known import known_file

if TYPE_CHECKING:
    from collections.abc import Mapping


class ProtobufFormat(SchemaFormat):
    """Protobuf schemas; a reference's schema is imported by its name."""

    name = "PROTOBUF"

    def parse(
        self, text: str, references: Mapping[str, str], *, is_new: bool = True
    ) -> ProtobufSchema:
        """Understand a .proto file, or a descriptor in base64; raises InvalidSchemaError."""
        try:
            file = parse_schema(text)
            imports = {name: parse_schema(each) for name, each in references.items()}
            if is_new:
                build_pool(file, imports)
        except ProtoError as failure:
            # Python's library holds smaller messages than those of other languages.
            if "mini table" not in str(failure):
                raise InvalidSchemaError(str(failure)) from None
        except (RecursionError, UnicodeError) as failure:
            raise InvalidSchemaError(f"the schema is malformed: {failure}") from None
        return ProtobufSchema(file, imports)


class ProtobufSchema(ParsedSchema):
    """A .proto file with the files that it imports."""

    def __init__(self, file: ProtoFile, imports: Mapping[str, ProtoFile]) -> None:
        self._file = file
        self._imports = imports

    @cached_property
    def text(self) -> str:
        """Without comments, in one fixed layout."""
        return format_file(self._file)

    def normalized(self) -> str:
        """Types by their full names; fields, options and imports sorted."""
        try:
            return normalized_text(self._file, self._imports)
        except ProtoError as failure:
            raise InvalidSchemaError(str(failure)) from None

    def formatted(self, form: str) -> str:
        """Return the text, or with "serialized" the file's descriptor in base64."""
        if form != "serialized":
            return self.text
        try:
            descriptor = to_descriptor(self._file, self._imports)
        except ProtoError as failure:
            raise InvalidSchemaError(str(failure)) from None
        return base64.b64encode(descriptor.SerializeToString(deterministic=True)).decode()

    @property
    def field_names(self) -> frozenset[str]:
        """The fields of the first message."""
        for type_ in self._file.types:
            if isinstance(type_, Message):
                return frozenset(field.name for field in type_.fields)
        return frozenset()

    def check_reads(self, writer: ParsedSchema, *, lenient: bool = False) -> list[Incompatibility]:
        """Return what of the other schema's data this one would read wrongly or not at all."""
        assert isinstance(writer, ProtobufSchema)
        found = differences(writer._side, self._side)  # noqa: SLF001 - its own kind
        return [
            Incompatibility(
                kind,
                path,
                _EXPLANATIONS[kind][0].replace("{what}", subject),
                *_EXPLANATIONS[kind][1:],
            )
            for kind, path, subject in found
        ]

    @cached_property
    def _side(self) -> Side:
        known = {name: known_file(name) for name in KNOWN_FILES - self._imports.keys()}
        return Side.of(self._file, known | dict(self._imports))


_EXPLANATIONS = {
    "PACKAGE_CHANGED": (
        "the package was {what}, so that all messages have other names",
        "Keep the package",
        "Keep the package",
    ),
    "MESSAGE_REMOVED": (
        "the {reader} schema has no message {what}, which the {writer} schema has",
        "Keep the message, also if it is no longer used",
        "Do not add a message that older readers would have to know, or check BACKWARD only",
    ),
    "FIELD_KIND_CHANGED": (
        "the field {what} is a scalar, a message or a map in one schema and not in the other",
        "Keep the type, and add a new field with a new number",
        "Keep the type, and add a new field with a new number",
    ),
    "FIELD_SCALAR_KIND_CHANGED": (
        "the field {what} is encoded in another way than before",
        "Keep the type or one that is encoded alike (int32, int64, uint32, uint64 and bool; "
        "sint32 and sint64; string and bytes; fixed32 and sfixed32; fixed64 and sfixed64), or "
        "add a new field with a new number",
        "Keep the type or one that is encoded alike, or add a new field with a new number",
    ),
    "FIELD_NAMED_TYPE_CHANGED": (
        "the field {what} has another message type, or one that changed incompatibly",
        "Keep the message type, or add a new field with a new number",
        "Keep the message type, or add a new field with a new number",
    ),
    "FIELD_NUMERIC_LABEL_CHANGED": (
        "the label of the numeric field {what} changed, and with it the encoding",
        "Keep the label, or add a new field with a new number",
        "Keep the label, or add a new field with a new number",
    ),
    "REQUIRED_FIELD_ADDED": (
        "the {reader} schema requires the field {what}, which the {writer} schema does not have",
        "Make the field optional",
        "Keep the field",
    ),
    "REQUIRED_FIELD_REMOVED": (
        "the {writer} schema requires the field {what}, which the {reader} schema does not have",
        "Keep the field; a required field can never be removed",
        "Do not add required fields; make it optional",
    ),
    "ONEOF_FIELD_REMOVED": (
        "the {reader} schema has no field {what}, which is in a oneof of the {writer} schema",
        "Keep the field in its oneof",
        "Do not add fields to a oneof that is there already",
    ),
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": (
        "the fields {what} exclude each other in the {reader} schema, but not in the {writer} "
        "schema, so that data can be lost",
        "Move at most one existing field into a oneof",
        "Keep the fields in their oneof",
    ),
    "FIELD_MOVED_TO_EXISTING_ONEOF": (
        "the fields {what} exclude each other in the {reader} schema, but not in the {writer} "
        "schema, so that data can be lost",
        "Keep the field out of the oneof, or make a new oneof for it",
        "Keep the field in its oneof",
    ),
}
