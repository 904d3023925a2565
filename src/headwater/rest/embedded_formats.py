"""The formats that keys and values have inside the proxy's JSON."""

from __future__ import annotations

import base64
import json
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.http.answers import JSON
from headwater.serde.formats.json import decode_json

if TYPE_CHECKING:
    from headwater.serde.schema import SchemaType

V2_JSON = "application/vnd.kafka.v2+json"
ANY_V2_JSON = "application/vnd.kafka+json"


class EmbeddedFormat(StrEnum):
    """A format of keys and values, by Confluent's names."""

    BINARY = "binary"
    JSON = "json"
    STRING = "string"  # of version 3 alone
    AVRO = "avro"
    JSONSCHEMA = "jsonschema"
    PROTOBUF = "protobuf"

    @property
    def schema_type(self) -> SchemaType | None:
        """The type of its schemas in the registry; None where it has none."""
        return _SCHEMA_TYPES.get(self)

    @property
    def content_type(self) -> str:
        """The content type of version 2 for records in this format."""
        return f"application/vnd.kafka.{self}.v2+json"


_SCHEMA_TYPES: dict[EmbeddedFormat, SchemaType] = {
    EmbeddedFormat.AVRO: "AVRO",
    EmbeddedFormat.JSONSCHEMA: "JSON",
    EmbeddedFormat.PROTOBUF: "PROTOBUF",
}
V2_FORMATS = tuple(each for each in EmbeddedFormat if each is not EmbeddedFormat.STRING)
BY_CONTENT_TYPE = {each.content_type: each for each in V2_FORMATS}
# Records are written in version 2 as they were in version 1, which old scripts still name.
BY_OLD_CONTENT_TYPE = {
    f"application/vnd.kafka.{each}.v1+json": each
    for each in (EmbeddedFormat.BINARY, EmbeddedFormat.JSON, EmbeddedFormat.AVRO)
}

OFFERED = (V2_JSON, JSON, *BY_CONTENT_TYPE, ANY_V2_JSON)


def encode_json(value: Any) -> bytes:
    """Return a JSON value's bytes, compact, so that equal keys have equal bytes."""
    try:
        return msgspec.json.encode(value)
    except (OverflowError, UnicodeEncodeError):  # a large number, half of a surrogate pair
        return json.dumps(value, separators=(",", ":")).encode()


def read_plain(format_: EmbeddedFormat, data: bytes | None) -> Any:
    """Return what stands for some bytes in JSON, for formats without schema; raises ValueError."""
    if data is None:
        return None
    if format_ is EmbeddedFormat.BINARY:
        return base64.b64encode(data).decode()
    return decode_json(data)
