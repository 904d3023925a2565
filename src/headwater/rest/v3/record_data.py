"""A record of version 3: keys and values that say their format and schema themselves."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from headwater.http.errors import HttpError, bad_request
from headwater.rest.acknowledged_producer import ANY_PARTITION, OutgoingRecord
from headwater.rest.embedded_formats import EmbeddedFormat, encode_json
from headwater.rest.errors import invalid_payload, partition_not_found
from headwater.rest.schema_writers import WantedSchema

if TYPE_CHECKING:
    from headwater.rest.service import RestService
    from headwater.serde.context import Field
    from headwater.serde.subject_names import StrategyLike

_STRATEGIES: dict[str, StrategyLike] = {
    "TOPIC_NAME": "topic",
    "RECORD_NAME": "record",
    "TOPIC_RECORD_NAME": "topic-record",
}
_FORMATS = {"JSON": EmbeddedFormat.JSONSCHEMA, "AVRO": EmbeddedFormat.AVRO,
            "PROTOBUF": EmbeddedFormat.PROTOBUF}  # fmt: skip


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """A header, its value in base64."""

    name: str
    value: bytes | None = None


class Data(msgspec.Struct, forbid_unknown_fields=True):
    """A key or a value."""

    type: str | None = None
    subject: str | None = None
    subject_name_strategy: str | None = None
    schema_id: int | None = None
    schema_version: int | None = None
    schema: str | None = None
    data: Any = None


class RecordData(msgspec.Struct, forbid_unknown_fields=True):
    """A record as clients send it."""

    partition_id: int | None = None
    headers: list[Header] = []
    key: Data | None = None
    value: Data | None = None
    timestamp: datetime | None = None


class Encoded(NamedTuple):
    """A key's or a value's bytes, and what the answer says of them."""

    data: bytes | None
    told: dict[str, Any] | None


async def encode_record(
    service: RestService, topic: str, record: RecordData
) -> tuple[OutgoingRecord, Encoded, Encoded]:
    """Return a record as it is to be written, and its key and value; raises HttpError."""
    partition = record.partition_id
    if partition is not None and partition < 0:
        raise partition_not_found(topic, partition)
    key = await _encode(service, topic, "key", record.key)
    value = await _encode(service, topic, "value", record.value)
    at = record.timestamp
    if at is not None and at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    outgoing = OutgoingRecord(
        key.data,
        value.data,
        ANY_PARTITION if partition is None else partition,
        0 if at is None else int(at.timestamp() * 1000),
        [(each.name, each.value) for each in record.headers] or None,
    )
    return outgoing, key, value


async def _encode(service: RestService, topic: str, field: Field, data: Data | None) -> Encoded:
    if data is None:
        return Encoded(None, None)
    format_ = _format(data)
    if format_ is None or format_.schema_type is not None:
        wanted = _wanted(topic, field, format_, data)
        return await service.threads.call(lambda: _with_schema(service, wanted, data))
    if any((data.subject, data.subject_name_strategy, data.schema, data.schema_id,
            data.schema_version)):  # fmt: skip
        raise bad_request(f"'type={data.type}' has no schema: leave out what names one")
    encoded = _plain(format_, field, data.data)
    return Encoded(encoded, {"type": data.type, "size": len(encoded or b"")})


def _format(data: Data) -> EmbeddedFormat | None:
    if data.type is None:
        return None
    try:
        return EmbeddedFormat(data.type.lower())
    except ValueError:
        known = ", ".join(each.name for each in EmbeddedFormat)
        raise bad_request(f"type is one of {known}, not '{data.type}'") from None


def _plain(format_: EmbeddedFormat, field: str, value: Any) -> bytes | None:
    if value is None:
        return None
    if format_ is EmbeddedFormat.JSON:
        return encode_json(value)
    if not isinstance(value, str):
        raise invalid_payload(f"The data of a {field} of type {format_.name} is a string")
    if format_ is EmbeddedFormat.STRING:
        return value.encode("utf-8", "replace")
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error as failure:
        raise invalid_payload(f"The data of a {field} is no base64: {failure}") from None


def _wanted(topic: str, field: Field, format_: EmbeddedFormat | None, data: Data) -> WantedSchema:
    given = [data.schema is not None, data.schema_id is not None, data.schema_version is not None]
    if sum(given) > 1:
        raise bad_request("Only one of 'schema_id', 'schema_version' or 'schema' can be used")
    if data.subject is not None and data.subject_name_strategy is not None:
        raise bad_request("Only one of 'subject_name_strategy' or 'subject' can be used")
    if (format_ is None) == (data.schema is not None):
        raise bad_request("'schema' and its 'type' go together: give both, or neither")
    strategy = data.subject_name_strategy or "TOPIC_NAME"
    if strategy not in _STRATEGIES:
        raise bad_request(f"subject_name_strategy is one of {', '.join(_STRATEGIES)}")
    return WantedSchema(
        topic,
        field,
        None if format_ is None else format_.schema_type,
        data.schema,
        data.schema_id,
        data.schema_version,
        data.subject,
        _STRATEGIES[strategy],
    )


def _with_schema(service: RestService, wanted: WantedSchema, data: Data) -> Encoded:
    """Encode with a schema; asks the registry, in a thread."""
    writer = service.writers.writer(wanted)
    encoded = writer.encode(data.data)
    told: dict[str, Any] = {"type": _FORMATS[writer.type].name}
    if wanted.strategy == "topic" or wanted.subject is not None:
        told["subject"] = service.writers.subject(wanted)
    told["schema_id"] = writer.id
    if "subject" in told:
        told["schema_version"] = service.writers.version(told["subject"], writer)
    return Encoded(encoded, {**told, "size": len(encoded or b"")})


def decode_record(data: bytes) -> RecordData:
    """Read a record; raises HttpError 400."""
    try:
        return msgspec.json.decode(data, type=RecordData)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as failure:
        raise HttpError(400, 400, f"Bad Request: the record is wrong: {failure}") from None
