"""Protobuf schemas at work: messages found by name or by index, written and read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from google.protobuf import json_format
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from headwater.serde.codec import Codec
from headwater.serde.errors import SchemaError
from headwater.serde.framing import decode_indexes, encode_indexes
from headwater.serde.proto_text.descriptor_builder import build_pool
from headwater.serde.proto_text.descriptor_reader import parse_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from google.protobuf.descriptor import Descriptor, FileDescriptor

    from headwater.serde.proto_text.elements import ProtoFile
    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.schema import Schema

_FILE = "default"


class MessageCodec(Codec):
    """One message type at work: it writes, or it is what others are read as."""

    def __init__(self, message_class: type[Message]) -> None:
        self.message_class = message_class
        self.descriptor = descriptor_of(message_class)
        self.record_name = self.descriptor.full_name
        self._indexes = encode_indexes(_indexes_of(self.descriptor))

    def encode(self, value: Any) -> bytes:
        """Return the message's indexes and the message; a dict is taken by the JSON mapping."""
        if not isinstance(value, Message):
            message = self.message_class()
            json_format.ParseDict(value, message, descriptor_pool=self.descriptor.file.pool)
            return self._indexes + message.SerializeToString()
        if value.DESCRIPTOR.full_name != self.record_name:
            raise TypeError(f"a {self.record_name} is wanted, not a {value.DESCRIPTOR.full_name}")
        return self._indexes + value.SerializeToString()

    def decoder(self, reader: Codec | None) -> Callable[[bytes, int], Any]:
        """Return what reads payloads of this very message."""
        return ProtobufFile(self.descriptor.file).decoder(reader)


class ProtobufFile(Codec):
    """One file at work: each payload says which of its messages it is."""

    def __init__(self, file: FileDescriptor) -> None:
        self._file = file
        first = next(iter(file.message_types_by_name.values()), None)
        self.record_name = None if first is None else first.full_name
        self._classes: dict[tuple[int, ...], type[Message]] = {}

    def encode(self, value: Any) -> bytes:
        """Return the payload of a message of this file."""
        if not isinstance(value, Message):
            raise TypeError("a message is wanted, since nothing else says which of the file it is")
        return MessageCodec(type(value)).encode(value)

    def decoder(self, reader: Codec | None) -> Callable[[bytes, int], Any]:
        """Return what reads payloads of any message of this file."""
        as_read = reader.message_class if isinstance(reader, MessageCodec) else None
        file = reader if isinstance(reader, ProtobufFile) else None

        def decode(data: bytes, start: int) -> Message:
            indexes, start = decode_indexes(data, start)
            message_class = as_read or self.class_at(indexes)
            if file is not None:
                message_class = file.class_like(message_class)
            message = message_class()
            message.ParseFromString(data[start:])
            return message

        return decode

    def class_named(self, name: str | None) -> type[Message]:
        """Return a message's class by its name, with or without the package; or the first."""
        if name is None:
            return self.class_at((0,))
        for full_name in (name, f"{self._file.package}.{name}"):
            try:
                descriptor = self._file.pool.FindMessageTypeByName(full_name)
            except KeyError:
                continue
            if descriptor.file.name == self._file.name:
                return GetMessageClass(descriptor)
        known = ", ".join(self._file.message_types_by_name)
        raise SchemaError(f"the schema has no message '{name}'; it has {known or 'none'}")

    def class_at(self, indexes: tuple[int, ...]) -> type[Message]:
        """Return the message at a path of indexes."""
        found = self._classes.get(indexes)
        if found is None:
            descriptor = _at(self._file, indexes)
            if descriptor is None:
                path = ".".join(map(str, indexes))
                raise SchemaError(f"the schema has no message at the index {path}")
            found = self._classes[indexes] = GetMessageClass(descriptor)
        return found

    def class_like(self, written: type[Message]) -> type[Message]:
        """Return this file's message with the name of another file's, or else the first."""
        descriptor = self._file.message_types_by_name.get(written.DESCRIPTOR.name)
        return self.class_at((0,)) if descriptor is None else GetMessageClass(descriptor)


def descriptor_of(message_class: type[Message]) -> Descriptor:
    """Return a class's descriptor, whichever implementation of the library it comes from."""
    return message_class.DESCRIPTOR  # type: ignore[return-value]


def load_file(schema: Schema, registry: SchemaRegistryClient) -> ProtobufFile:
    """Return a schema of the registry, with what it imports; raises SchemaError."""
    imports: dict[str, ProtoFile] = {}
    _collect(schema, registry, imports)
    try:
        pool = build_pool(parse_schema(schema.text), imports, _FILE)
    except (ValueError, RecursionError) as failure:
        raise SchemaError(f"this is no Protobuf schema: {failure}") from failure
    return ProtobufFile(pool.FindFileByName(_FILE))


def load_bare_file(text: str) -> ProtobufFile:
    """Return a schema that imports nothing of a registry; raises SchemaError."""
    try:
        pool = build_pool(parse_schema(text), {}, _FILE)
    except (ValueError, RecursionError) as failure:
        raise SchemaError(f"this is no Protobuf schema: {failure}") from failure
    return ProtobufFile(pool.FindFileByName(_FILE))


def _collect(schema: Schema, registry: SchemaRegistryClient, imports: dict[str, ProtoFile]) -> None:
    for reference in schema.references:
        if reference.name not in imports:
            imported = registry.get_version(reference.subject, reference.version, deleted=True)
            try:
                imports[reference.name] = parse_schema(imported.schema.text)
            except (ValueError, RecursionError) as failure:
                raise SchemaError(f"{reference.name} is no Protobuf schema: {failure}") from failure
            _collect(imported.schema, registry, imports)


def _indexes_of(message: Descriptor) -> list[int]:
    if message.containing_type is None:
        return [list(message.file.message_types_by_name).index(message.name)]
    siblings = [nested.name for nested in message.containing_type.nested_types]
    return [*_indexes_of(message.containing_type), siblings.index(message.name)]


def _at(file: FileDescriptor, indexes: Sequence[int]) -> Descriptor | None:
    found = _follow(file, indexes, with_map_entries=True)
    if found is None or found.GetOptions().map_entry:
        # A map field makes a hidden message, which clients of some languages do not count.
        return _follow(file, indexes, with_map_entries=False)
    return found


def _follow(
    file: FileDescriptor, indexes: Sequence[int], *, with_map_entries: bool
) -> Descriptor | None:
    siblings = list(file.message_types_by_name.values())
    found = None
    for index in indexes:
        if not with_map_entries:
            siblings = [each for each in siblings if not each.GetOptions().map_entry]
        if not 0 <= index < len(siblings):
            return None
        found = siblings[index]
        siblings = list(found.nested_types)
    return found
