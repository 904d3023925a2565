"""Protobuf with schemas from a registry: generated classes, or messages made from .proto text."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, Unpack

from google.protobuf import json_format
from google.protobuf.message import Message

from headwater.serde.formats.protobuf_codec import MessageCodec, descriptor_of, load_file
from headwater.serde.proto_text.known import KNOWN_FILES
from headwater.serde.registry_deserializer import RegistryDeserializer
from headwater.serde.registry_serializer import RegistrySerializer
from headwater.serde.schema import Reference, Schema, as_schema

if TYPE_CHECKING:
    from google.protobuf.descriptor import FileDescriptor

    from headwater.serde.codec import Codec
    from headwater.serde.context import Context
    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.registry_deserializer import DeserializerSettings
    from headwater.serde.registry_serializer import SerializerSettings
    from headwater.serde.schema import SchemaType

# A generated class, the text of a .proto file, or that with references.
ProtobufSchema: TypeAlias = type[Message] | str | Schema


class ProtobufSerializer(RegistrySerializer["Message | dict[str, Any]"]):
    """Writes Protobuf messages, or dicts in Protobuf's JSON mapping.

    The schema is a generated class, or the text of a .proto file; where that has several messages,
    `message` names the one to write, else it is the first. The files that a generated class
    imports are registered under their names. The other settings are RegistrySerializer's.
    """

    schema_type: ClassVar[SchemaType] = "PROTOBUF"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: ProtobufSchema | None = None,
        *,
        message: str | None = None,
        **settings: Unpack[SerializerSettings],
    ) -> None:
        self._class, known = _class_and_schema(schema)
        self._message = message
        super().__init__(registry, known, **settings)
        if self._schema is not None:
            self._codec(self._schema)  # a wrong schema should be heard of here

    def _parse(self, schema: Schema) -> Codec:
        if self._class is not None:
            return MessageCodec(self._class)
        file = load_file(schema, self._registry)
        return MessageCodec(file.class_named(self._message))

    def _register(self, subject: str, schema: Schema) -> int:
        if self._class is not None:
            schema = replace(schema, references=self._references(descriptor_of(self._class).file))
        return super()._register(subject, schema)

    def _references(self, file: FileDescriptor) -> tuple[Reference, ...]:
        references = []
        for imported in file.dependencies:
            if imported.name in KNOWN_FILES:
                continue
            schema = replace(_schema_of(imported), references=self._references(imported))
            super()._register(imported.name, schema)
            registered = self._registry.lookup_schema(
                imported.name, schema, normalize=self._normalize
            )
            references.append(Reference(imported.name, imported.name, registered.version))
        return tuple(references)


class ProtobufDeserializer(RegistryDeserializer[Message]):
    """Reads Protobuf messages: of the class or schema given, or else as they were written.

    The schema is a generated class, or the text of a .proto file, whose first message is read
    unless `message` names another. The other settings are RegistryDeserializer's.
    """

    schema_type: ClassVar[SchemaType] = "PROTOBUF"

    def __init__(
        self,
        registry: SchemaRegistryClient,
        schema: ProtobufSchema | None = None,
        *,
        message: str | None = None,
        **settings: Unpack[DeserializerSettings],
    ) -> None:
        self._class, known = _class_and_schema(schema)
        self._message = message
        super().__init__(registry, known, **settings)
        if known is not None:
            self._codec(known)

    def _parse(self, schema: Schema) -> Codec:
        if schema != self._schema:
            return load_file(schema, self._registry)
        if self._class is not None:
            return MessageCodec(self._class)
        return MessageCodec(load_file(schema, self._registry).class_named(self._message))


class ProtobufJsonDeserializer(ProtobufDeserializer):
    """Reads Protobuf messages into dicts in Protobuf's JSON mapping, with the fields' own names.

    Fields at their default are there as well; numbers of 64 bits are texts, as the mapping says.
    """

    def _decode(self, data: bytes, context: Context) -> Any:
        message = super()._decode(data, context)
        return json_format.MessageToDict(
            message,
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
            descriptor_pool=descriptor_of(type(message)).file.pool,
        )


def _class_and_schema(
    given: ProtobufSchema | None,
) -> tuple[type[Message] | None, Schema | None]:
    if given is None:
        return None, None
    if isinstance(given, type):
        return given, _schema_of(descriptor_of(given).file)
    return None, as_schema(given, "PROTOBUF")


def _schema_of(file: FileDescriptor) -> Schema:
    # What confluent-kafka registers: there is no text in a generated module, only its descriptor.
    return Schema(base64.b64encode(file.serialized_pb).decode(), "PROTOBUF")
