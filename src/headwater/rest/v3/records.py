"""Records of version 3: one, a batch, or as many as come over one connection."""

from __future__ import annotations

import asyncio
import contextlib
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from headwater.clients.connection import check_topic_name
from headwater.clients.errors import InvalidTopicNameError
from headwater.http.answers import JSON, Answer, Stream, encode, json_line
from headwater.http.errors import ClientDisconnectedError, HttpError
from headwater.rest.errors import (
    client_error,
    invalid_batch,
    invalid_payload,
    kafka_error,
    partition_not_found,
    topic_not_found,
)
from headwater.rest.v3.json_stream import JsonObjects, JsonStreamError
from headwater.rest.v3.links import links_of
from headwater.rest.v3.record_data import RecordData, decode_record, encode_record

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from headwater.http.request import Request
    from headwater.rest.acknowledged_producer import Delivery
    from headwater.rest.service import RestService

_MULTI_STATUS = 207
# Records of one stream that wait for their acknowledgement; the next is read when one has it.
_UNANSWERED = 500
_ENTRY_ID = re.compile(r"[0-9a-zA-Z_-]{1,80}")


class _Entry(RecordData, kw_only=True):
    id: str


class _Batch(msgspec.Struct, forbid_unknown_fields=True):
    entries: list[_Entry]


async def produce(service: RestService, request: Request) -> Stream:
    """Answer POST .../records: an answer for each record, in order, while others come in.

    So many records may wait for their answers. A client that does not read its answers, or a
    cluster that does not acknowledge, keeps the next one from being read.
    """
    topic = await _topic(service, request)
    if request.incoming.is_complete:
        raise invalid_payload("Request body is empty. Data is required.")
    return Stream(_answers(service, request, topic), JSON)


async def produce_batch(service: RestService, request: Request) -> Answer:
    """Answer POST .../records:batch."""
    topic = await _topic(service, request)
    entries = request.decode(_Batch).entries
    most = service.config.max_batch_entries
    if not entries:
        raise invalid_batch("Empty batch.")
    if len(entries) > most:
        raise invalid_batch(f"Too many entries in batch: {most} are allowed.")
    if any(not _ENTRY_ID.fullmatch(entry.id) for entry in entries):
        raise invalid_batch("Batch entry identifier is not a valid string.")
    if len({entry.id for entry in entries}) < len(entries):
        raise invalid_batch("Batch entry IDs are not distinct.")
    successes: list[dict[str, Any]] = []
    failures: list[dict[str, Any]] = []
    writing = [await _write(service, topic, entry) for entry in entries]
    for entry, told in zip(entries, await asyncio.gather(*writing), strict=True):
        if told["error_code"] == 200:
            del told["error_code"]
            successes.append({"id": entry.id, **told})
        else:
            failures.append({"id": entry.id, **told})
    body = encode({"successes": successes, "failures": failures})
    return Answer(body, _MULTI_STATUS, JSON)


async def _topic(service: RestService, request: Request) -> str:
    await links_of(service, request)
    try:
        return check_topic_name(request.parameters["topic_name"])
    except InvalidTopicNameError as failure:
        raise client_error(failure) from None


async def _answers(service: RestService, request: Request, topic: str) -> AsyncIterator[bytes]:
    written: asyncio.Queue[asyncio.Future[dict[str, Any]] | None] = asyncio.Queue(_UNANSWERED)
    reading = asyncio.create_task(_read(service, request, topic, written))
    try:
        while (one := await written.get()) is not None:
            yield json_line(await one)
        await reading  # raises what has ended it
    finally:
        # Where the client has left: what it sent is on its way, and only its answers are dropped.
        reading.cancel()
        while not written.empty():
            left = written.get_nowait()
            if left is not None:
                left.cancel()
        with contextlib.suppress(asyncio.CancelledError, ClientDisconnectedError):
            await reading


async def _read(
    service: RestService,
    request: Request,
    topic: str,
    written: asyncio.Queue[asyncio.Future[dict[str, Any]] | None],
) -> None:
    objects = JsonObjects(service.config.max_request_bytes)
    try:
        async for chunk in request.chunks():
            for one in objects.feed(chunk):
                await written.put(await _write_text(service, topic, one))
        if not objects.is_between:
            raise JsonStreamError("the stream ended in the middle of a record")
    except JsonStreamError as failure:
        await written.put(_done(_failed(HttpError(400, 400, f"Bad Request: {failure}"))))
    finally:
        await written.put(None)


async def _write_text(
    service: RestService, topic: str, text: bytes
) -> asyncio.Future[dict[str, Any]]:
    try:
        return await _write(service, topic, decode_record(text))
    except HttpError as failure:
        return _done(_failed(failure))


async def _write(
    service: RestService, topic: str, record: RecordData
) -> asyncio.Future[dict[str, Any]]:
    """Send a record, after those before it, and return its answer to come."""
    try:
        outgoing, key, value = await encode_record(service, topic, record)
        acknowledged = await service.producer.begin(topic, [outgoing])
    except HttpError as failure:
        return _done(_failed(failure))

    async def told() -> dict[str, Any]:
        (delivery,) = await acknowledged
        if delivery.error is not None:
            return _failed(_refused(topic, record, delivery))
        parts = {"key": key.told, "value": value.told}
        return {
            "error_code": 200,
            "cluster_id": await service.cluster_id(),
            "topic_name": topic,
            "partition_id": delivery.partition,
            "offset": delivery.offset,
            "timestamp": _time(delivery.timestamp),
            **{name: part for name, part in parts.items() if part is not None},
        }

    return asyncio.ensure_future(told())


def _refused(topic: str, record: RecordData, delivery: Delivery) -> HttpError:
    error = delivery.error
    assert error is not None, "only what was refused comes here"
    if error.name() in ("UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC"):
        return topic_not_found(topic)
    if error.name() == "_UNKNOWN_PARTITION":
        return partition_not_found(topic, record.partition_id)
    return kafka_error(error)


def _failed(failure: HttpError) -> dict[str, Any]:
    return {"error_code": failure.code, "message": failure.message}


def _done(value: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
    future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
    future.set_result(value)
    return future


def _time(milliseconds: int) -> str:
    at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
