"""POST /topics/{topic} and its partitions: records in, where they went out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from headwater.clients.connection import check_topic_name
from headwater.clients.errors import InvalidTopicNameError, describe
from headwater.http.answers import Answer, encode
from headwater.http.errors import HttpError, unsupported_media_type
from headwater.rest.acknowledged_producer import ANY_PARTITION, OutgoingRecord
from headwater.rest.embedded_formats import (
    BY_CONTENT_TYPE,
    BY_OLD_CONTENT_TYPE,
    V2_JSON,
    EmbeddedFormat,
    encode_json,
)
from headwater.rest.errors import (
    PARTITION_NOT_FOUND,
    TOPIC_NOT_FOUND,
    client_error,
    invalid_payload,
    partition_not_found,
    schema_missing,
    topic_not_found,
    verdict_of,
)
from headwater.rest.schema_writers import WantedSchema

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.http.request import Request
    from headwater.rest.acknowledged_producer import Delivery
    from headwater.rest.schema_writers import SchemaWriters
    from headwater.rest.service import RestService
    from headwater.serde.context import Field

_MOST_PARTITIONS = 2**31 - 1
_SEGMENT_OF_PARTITION = 3


class _Schemas(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    key_schema: str | None = None
    key_schema_id: int | None = None
    value_schema: str | None = None
    value_schema_id: int | None = None


class _BinaryRecord(msgspec.Struct, forbid_unknown_fields=True):
    key: bytes | None = None
    value: bytes | None = None
    partition: int | None = None


class _BinaryRequest(_Schemas):
    records: list[_BinaryRecord]


class _Record(msgspec.Struct, forbid_unknown_fields=True):
    key: Any = None
    value: Any = None
    partition: int | None = None


class _Request(_Schemas):
    records: list[_Record]


class _Encoded(msgspec.Struct):
    records: list[OutgoingRecord]
    key_schema_id: int | None = None
    value_schema_id: int | None = None


async def produce(service: RestService, request: Request) -> Answer:
    """Answer POST /topics/{topic} and /topics/{topic}/partitions/{partition}."""
    topic = request.parameters["topic"]
    try:
        check_topic_name(topic)
    except InvalidTopicNameError as failure:
        raise client_error(failure) from None
    partition = _partition(topic, request.parameters.get("partition"))
    format_ = _format(request)
    if format_ is EmbeddedFormat.BINARY:
        encoded = _Encoded(_binary(request.decode(_BinaryRequest), partition))
    else:
        given = request.decode(_Request)
        if format_ is EmbeddedFormat.JSON:
            encoded = _Encoded(_outgoing(given, partition, _json, _json))
        else:
            writers = service.writers
            encoded = await service.threads.call(
                lambda: _with_schemas(writers, format_, topic, given, partition)
            )
    if not encoded.records:
        raise HttpError(422, 422, "The request's body is wrong: records may not be empty")
    deliveries = await service.producer.send(topic, encoded.records)
    return _answer(topic, encoded, deliveries)


def _format(request: Request) -> EmbeddedFormat:
    given = request.headers.get(b"content-type", b"").decode("latin-1")
    media = given.split(";")[0].strip().lower()
    known = BY_CONTENT_TYPE | BY_OLD_CONTENT_TYPE
    if media in known:
        return known[media]
    if media == V2_JSON:  # Confluent's proxy reads it so
        return EmbeddedFormat.BINARY
    raise HttpError(
        415, 415, f"{unsupported_media_type().message.partition(':')[0]}: say which format the "
        f"records have, with one of the content types {', '.join(BY_CONTENT_TYPE)}",
    )  # fmt: skip


def _partition(topic: str, number: str | None) -> int:
    if number is None:
        return ANY_PARTITION
    if not number.isdecimal() or int(number) > _MOST_PARTITIONS:
        raise partition_not_found(topic, number)
    return int(number)


def _chosen(record: _Record | _BinaryRecord, partition: int) -> int:
    if record.partition is None:
        return partition
    if not 0 <= record.partition <= _MOST_PARTITIONS:
        raise invalid_payload(f"{record.partition} is no partition")
    return record.partition


def _binary(given: _BinaryRequest, partition: int) -> list[OutgoingRecord]:
    return [
        OutgoingRecord(each.key, each.value, _chosen(each, partition)) for each in given.records
    ]


def _json(value: Any) -> bytes | None:
    return None if value is None else encode_json(value)


def _outgoing(
    given: _Request,
    partition: int,
    key: Callable[[Any], bytes | None],
    value: Callable[[Any], bytes | None],
) -> list[OutgoingRecord]:
    return [
        OutgoingRecord(key(each.key), value(each.value), _chosen(each, partition))
        for each in given.records
    ]


def _with_schemas(
    writers: SchemaWriters, format_: EmbeddedFormat, topic: str, given: _Request, partition: int
) -> _Encoded:
    """Encode with schemas; asks the registry, in a thread."""

    def encoder(
        field: Field, text: str | None, id_: int | None
    ) -> tuple[Callable[[Any], bytes | None], int | None]:
        if text is None and id_ is None:

            def refuse(value: Any) -> None:
                if value is not None:
                    raise schema_missing(field)

            return refuse, None
        wanted = WantedSchema(topic, field, format_.schema_type, text if id_ is None else None, id_)
        writer = writers.writer(wanted)
        return writer.encode, writer.id

    key, key_id = encoder("key", given.key_schema, given.key_schema_id)
    value, value_id = encoder("value", given.value_schema, given.value_schema_id)
    return _Encoded(_outgoing(given, partition, key, value), key_id, value_id)


def _answer(topic: str, encoded: _Encoded, deliveries: list[Delivery]) -> Answer:
    offsets: list[dict[str, Any]] = []
    failed: HttpError | None = None
    for record, delivery in zip(encoded.records, deliveries, strict=True):
        error = delivery.error
        if error is None:
            offsets.append(
                {
                    "partition": delivery.partition,
                    "offset": delivery.offset,
                    "error_code": None,
                    "error": None,
                }
            )
            continue
        verdict = verdict_of(error)
        code = verdict.code
        if error.name() in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"):
            failed, code = topic_not_found(topic), TOPIC_NOT_FOUND
        elif error.name() == "_UNKNOWN_PARTITION":
            failed, code = partition_not_found(topic, record.partition), PARTITION_NOT_FOUND
        elif verdict.status in (401, 403):
            failed = HttpError(verdict.status, code, f"Kafka error: {describe(error)}")
        offsets.append(
            {"partition": None, "offset": None, "error_code": code, "error": describe(error)}
        )
    if failed is not None and all(each["offset"] is None for each in offsets):
        raise failed
    value = {
        "offsets": offsets,
        "key_schema_id": encoded.key_schema_id,
        "value_schema_id": encoded.value_schema_id,
    }
    return Answer(encode(value), content_type=V2_JSON)
