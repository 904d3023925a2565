"""What keys and values are, found out by looking at them: schemas, JSON, text, numbers, bytes."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.serde import (
    AvroJsonDeserializer,
    JsonSchemaDeserializer,
    ProtobufJsonDeserializer,
)
from headwater.serde.context import Context, context_of
from headwater.serde.errors import SerdeError
from headwater.serde.framing import MAGIC_GUID, MAGIC_ID, read_schema_ref, schema_header

if TYPE_CHECKING:
    from confluent_kafka import Message

    from headwater.serde import Deserializer, SchemaRegistryClient
    from headwater.serde.context import Field

MAX_SHOWN = 64 * 1024
"""Bytes of a key or value that are decoded to be shown; the rest is cut."""

_READERS: dict[str, Any] = {
    "AVRO": AvroJsonDeserializer,
    "JSON": JsonSchemaDeserializer,
    "PROTOBUF": ProtobufJsonDeserializer,
}
_NAMES = {"AVRO": "Avro", "JSON": "JSON Schema", "PROTOBUF": "Protobuf"}
_CONTROL = {*range(32)} - {9, 10, 13}


@dataclass(frozen=True)
class Decoded:
    """A key or a value, as a person can read it."""

    kind: str
    """null, empty, Avro, Protobuf, JSON Schema, JSON, text, long, int or bytes."""
    text: str
    value: Any
    """What filters look into: what JSON stands for, a number, or the text."""
    size: int
    schema_id: int | None = None
    problem: str | None = None
    """Why it could not be decoded as what it says it is."""
    is_cut: bool = False


NULL = Decoded("null", "", None, 0)


class Decoder:
    """Decodes by itself; asks a registry, where there is one, and so is called in threads."""

    def __init__(self, registry: SchemaRegistryClient | None) -> None:
        self._registry = registry
        self._readers: dict[str, Deserializer[Any]] = {}

    def decode(self, message: Message, field: Field) -> Decoded:
        """Return a message's key or value."""
        data = message.key() if field == "key" else message.value()
        return self.decode_bytes(data, context_of(message, field))

    def decode_bytes(self, data: bytes | None, context: Context) -> Decoded:
        """Return what some bytes are."""
        if data is None:
            return NULL
        if not data:
            return Decoded("empty", "", "", 0)
        problem = None
        if self._registry is not None and _is_framed(data, context):
            try:
                return self._with_schema(self._registry, data, context)
            except (SerdeError, ValueError) as failure:
                problem = str(failure)
        return _plain(data, problem)

    def _with_schema(
        self, registry: SchemaRegistryClient, data: bytes, context: Context
    ) -> Decoded:
        ref = read_schema_ref((schema_header(context) if context.headers else None) or data)
        if ref.guid is not None:
            schema = registry.get_schema_by_guid(ref.guid)
        else:
            schema = registry.get_schema(ref.id or 0)
        reader = self._readers.get(schema.type)
        if reader is None:
            reader = self._readers[schema.type] = _READERS[schema.type](registry)
        value = reader(data, context)
        text = json.dumps(value, ensure_ascii=False, default=str)
        shown, is_cut = shortened(text)
        return Decoded(
            _NAMES[schema.type], shown, value, len(data), schema_id=ref.id, is_cut=is_cut
        )


def pretty(decoded: Decoded) -> str:
    """Return it as it is shown by itself: JSON on many lines."""
    if decoded.is_cut or not isinstance(decoded.value, dict | list):
        return decoded.text
    return json.dumps(decoded.value, ensure_ascii=False, indent=2, default=str)


def _is_framed(data: bytes, context: Context) -> bool:
    if context.headers and schema_header(context) is not None:
        return True
    # An id is small: eight zero-led bytes are a number more often than the first of schemas.
    return (data[0] == MAGIC_ID and len(data) > 5) or (data[0] == MAGIC_GUID and len(data) > 17)


def _plain(data: bytes, problem: str | None) -> Decoded:
    is_cut = len(data) > MAX_SHOWN
    head = data[:MAX_SHOWN]
    text = _text(head, is_cut=is_cut)
    if text is None:
        return _binary(data, problem)
    if not is_cut and text.lstrip()[:1] in ("{", "[", '"'):
        try:
            return Decoded("JSON", text, json.loads(text), len(data), problem=problem)
        except (ValueError, RecursionError):  # it only looks so
            pass
    return Decoded("text", text, text, len(data), problem=problem, is_cut=is_cut)


def _text(data: bytes, *, is_cut: bool) -> str | None:
    if _CONTROL.intersection(data):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as failure:
        if is_cut and failure.start >= len(data) - 3:  # the cut went through a letter
            return data[: failure.start].decode()
        return None


def _binary(data: bytes, problem: str | None) -> Decoded:
    if len(data) == 8:
        (number,) = struct.unpack(">q", data)
        return Decoded("long", str(number), number, 8, problem=problem)
    if len(data) == 4:
        (number,) = struct.unpack(">i", data)
        return Decoded("int", str(number), number, 4, problem=problem)
    most = MAX_SHOWN // 4
    shown = data[:most].hex(" ")
    return Decoded("bytes", shown, shown, len(data), problem=problem, is_cut=len(data) > most)


def shortened(text: str) -> tuple[str, bool]:
    """Return as much of a text as is shown, and whether that is not all."""
    return (text, False) if len(text) <= MAX_SHOWN else (text[:MAX_SHOWN], True)
