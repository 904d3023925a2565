"""Columns of one Protobuf message without a registry: nothing stands before a message's bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from headwater.serde.arrow.columns import conformed, decode_each, encode_each
from headwater.serde.arrow.protobuf_fields import column_of_messages, messages_of_column
from headwater.serde.arrow.protobuf_types import message_type
from headwater.serde.formats.protobuf_codec import descriptor_of, load_bare_file

if TYPE_CHECKING:
    from google.protobuf.message import Message


class BareProtobuf:
    """Decodes and encodes the first message of a .proto file's text.

    It can be pickled, so that Spark's workers can be given it.

    >>> format_ = BareProtobuf('syntax = "proto3"; message Reading { int32 value = 1; }')
    >>> format_.encode(pa.array([{"value": 5}, None])).to_pylist()
    [b'\\x08\\x05', None]
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._loaded: type[Message] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_loaded": None}

    @property
    def _class(self) -> type[Message]:
        if self._loaded is None:
            self._loaded = load_bare_file(self._text).class_named(None)
        return self._loaded

    def decode(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array]:
        """Return values, and for each payload the reason why it has none."""
        data = payloads.to_pylist()
        make = self._class

        def parse(payload: bytes | None) -> Message:
            message = make()
            message.ParseFromString(payload or b"")
            return message

        messages, reasons = decode_each(data, parse, make())
        absent = [
            payload is None or reason is not None
            for payload, reason in zip(data, reasons, strict=True)
        ]
        column = column_of_messages(descriptor_of(make), messages, absent)
        return column, pa.array(reasons, pa.string())

    def encode(self, values: pa.Array) -> pa.Array:
        """Return the bytes of values; null fields stay unset."""
        descriptor = descriptor_of(self._class)
        wanted = conformed(values, message_type(descriptor))
        messages: list[Any] = messages_of_column(descriptor, wanted)
        return pa.array(encode_each(messages, lambda each: each.SerializeToString()), pa.binary())
