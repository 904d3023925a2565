"""Columns of Protobuf, taken from messages and put into them field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.serde.arrow.columns import (
    Column,
    ColumnReader,
    ColumnWriter,
    conformed,
    decode_each,
    encode_each,
)
from headwater.serde.arrow.protobuf_fields import column_of_messages, messages_of_column
from headwater.serde.arrow.protobuf_types import message_type
from headwater.serde.formats.protobuf_codec import MessageCodec, descriptor_of, load_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from headwater.serde.registry_client import SchemaRegistryClient
    from headwater.serde.schema import Schema


class ProtobufReader(ColumnReader):
    """Reads what one file's messages wrote as one message of the reader's file."""

    def __init__(
        self, registry: SchemaRegistryClient, writer: Schema, reader: Schema, message: str | None
    ) -> None:
        self._class = load_file(reader, registry).class_named(message)
        self._descriptor = descriptor_of(self._class)
        self.type = message_type(self._descriptor)
        self._decode = load_file(writer, registry).decoder(MessageCodec(self._class))

    def read(self, payloads: Sequence[bytes]) -> Column:
        """Parse payloads, which have the message's indexes in front."""
        decode = self._decode
        messages, reasons = decode_each(payloads, lambda data: decode(data, 0), self._class())
        malformed = [reason is not None for reason in reasons]
        return Column(column_of_messages(self._descriptor, messages, malformed), reasons)


class ProtobufWriter(ColumnWriter):
    """Writes one message of a file."""

    def __init__(self, registry: SchemaRegistryClient, schema: Schema, message: str | None) -> None:
        self._codec = MessageCodec(load_file(schema, registry).class_named(message))
        self._descriptor = self._codec.descriptor
        self.type = message_type(self._descriptor)

    def write(self, values: pa.Array) -> list[bytes | None]:
        """Encode values; null fields stay unset."""
        messages: list[Any] = messages_of_column(self._descriptor, conformed(values, self.type))
        return encode_each(messages, self._codec.encode)
