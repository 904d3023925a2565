"""/consumers: instances, what they subscribe to, where they stand, and their records."""

from __future__ import annotations

import re
from datetime import datetime  # noqa: TC003  msgspec looks it up
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from headwater.http.answers import Answer, answer, encode
from headwater.http.errors import HttpError
from headwater.rest.consumers.instance import InstanceSettings
from headwater.rest.consumers.reading import read_records
from headwater.rest.embedded_formats import BY_CONTENT_TYPE, V2_FORMATS, EmbeddedFormat
from headwater.rest.errors import (
    format_mismatch,
    invalid_consumer,
    invalid_payload,
    partition_not_found,
)
from headwater.rest.settings import MOST_FETCH_MIN_BYTES

if TYPE_CHECKING:
    from headwater.http.request import Request
    from headwater.rest.consumers.instance import ConsumerInstance, Place
    from headwater.rest.service import RestService

_NOTHING = Answer(b"", 204)
_RESETS = ("earliest", "latest", "none")


class _Create(msgspec.Struct, forbid_unknown_fields=True):
    id: str | None = None
    name: str | None = None
    format: str | None = None
    auto_offset_reset: str | None = msgspec.field(name="auto.offset.reset", default=None)
    auto_commit: str | bool | None = msgspec.field(name="auto.commit.enable", default=None)
    min_bytes: str | int | None = msgspec.field(name="fetch.min.bytes", default=None)
    timeout_ms: str | int | None = msgspec.field(name="consumer.request.timeout.ms", default=None)


class _Subscription(msgspec.Struct, forbid_unknown_fields=True):
    topics: list[str] | None = None
    topic_pattern: str | None = None


class _Partition(msgspec.Struct, forbid_unknown_fields=True):
    topic: str
    partition: int

    @property
    def place(self) -> Place:
        return self.topic, self.partition


class _Partitions(msgspec.Struct, forbid_unknown_fields=True):
    partitions: list[_Partition]


class _Offset(_Partition, kw_only=True):
    offset: int
    metadata: str | None = None


class _Offsets(msgspec.Struct, forbid_unknown_fields=True):
    offsets: list[_Offset]


class _Timestamp(_Partition, kw_only=True):
    timestamp: datetime
    metadata: str | None = None


class _Positions(msgspec.Struct, forbid_unknown_fields=True):
    offsets: list[_Offset] = []
    timestamps: list[_Timestamp] = []


async def create(service: RestService, request: Request) -> Answer:
    """Answer POST /consumers/{group}."""
    group = request.parameters["group"]
    given = request.decode(_Create) if request.body.strip() else _Create()
    name = given.id or given.name or service.consumers.new_name()
    config = service.config
    service.consumers.create(
        InstanceSettings(
            group,
            name,
            _format(given.format),
            _reset(given.auto_offset_reset),
            _flag(given.auto_commit),
            _number("fetch.min.bytes", given.min_bytes, config.fetch_min_bytes, -1),
            _number(
                "consumer.request.timeout.ms",
                given.timeout_ms,
                int(config.request_timeout_s * 1000),
                1,
            )
            / 1000,
        )
    )
    path = f"/consumers/{quote(group, safe='')}/instances/{quote(name, safe='')}"
    return answer({"instance_id": name, "base_uri": service.url(request, path)})


async def delete(service: RestService, request: Request) -> Answer:
    """Answer DELETE /consumers/{group}/instances/{instance}."""
    await service.consumers.delete(request.parameters["group"], request.parameters["instance"])
    return _NOTHING


async def subscribe(service: RestService, request: Request) -> Answer:
    """Answer POST .../subscription."""
    instance = _instance(service, request)
    given = request.decode(_Subscription)
    topics, pattern = given.topics or [], given.topic_pattern
    if bool(topics) == bool(pattern):
        raise invalid_payload("Give either topics or a topic_pattern")
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as failure:
            raise invalid_payload(f"topic_pattern is no pattern: {failure}") from None
    await service.consumers.use(instance, lambda mine: mine.subscribe(topics, pattern or None))
    return _NOTHING


async def get_subscription(service: RestService, request: Request) -> Answer:
    """Answer GET .../subscription."""
    instance = _instance(service, request)
    topics = await service.consumers.use(instance, lambda mine: mine.subscription())
    return answer({"topics": topics})


async def unsubscribe(service: RestService, request: Request) -> Answer:
    """Answer DELETE .../subscription."""
    await service.consumers.use(_instance(service, request), lambda mine: mine.unsubscribe())
    return _NOTHING


async def assign(service: RestService, request: Request) -> Answer:
    """Answer POST .../assignments."""
    instance = _instance(service, request)
    places = [each.place for each in request.decode(_Partitions).partitions]
    await service.consumers.use(instance, lambda mine: mine.assign(places))
    return _NOTHING


async def get_assignment(service: RestService, request: Request) -> Answer:
    """Answer GET .../assignments."""
    instance = _instance(service, request)
    places = await service.consumers.use(instance, lambda mine: mine.assignment())
    return answer(
        {"partitions": [{"topic": topic, "partition": number} for topic, number in places]}
    )


async def seek(service: RestService, request: Request) -> Answer:
    """Answer POST .../positions."""
    instance = _instance(service, request)
    given = request.decode(_Positions)
    offsets = {each.place: each.offset for each in given.offsets}
    times = {each.place: int(each.timestamp.timestamp() * 1000) for each in given.timestamps}
    if any(offset < 0 for offset in offsets.values()):
        raise invalid_payload("An offset is 0 or more; for the ends there are /positions/beginning "
                              "and /positions/end")  # fmt: skip

    def move(mine: ConsumerInstance) -> None:
        found = mine.offsets_at(times) if times else {}  # the end, where all records are older
        for place, offset in (offsets | found).items():
            mine.seek(place, offset)

    await service.consumers.use(instance, move)
    return _NOTHING


async def seek_to_beginning(service: RestService, request: Request) -> Answer:
    """Answer POST .../positions/beginning."""
    return await _seek_to(service, request, first=True)


async def seek_to_end(service: RestService, request: Request) -> Answer:
    """Answer POST .../positions/end."""
    return await _seek_to(service, request, first=False)


async def commit(service: RestService, request: Request) -> Answer:
    """Answer POST .../offsets: those given, or all that was read."""
    instance = _instance(service, request)
    offsets = None
    if request.body.strip():
        given = request.decode(_Offsets)
        offsets = [(each.place, each.offset, each.metadata) for each in given.offsets]
    await service.consumers.use(instance, lambda mine: mine.commit(offsets))
    return answer({"offsets": []})


async def get_committed(service: RestService, request: Request) -> Answer:
    """Answer GET .../offsets, which has a body."""
    instance = _instance(service, request)
    if not request.body.strip():
        raise partition_not_found("the request", "(its body names none: send partitions)")
    places = [each.place for each in request.decode(_Partitions).partitions]
    committed = await service.consumers.use(instance, lambda mine: mine.committed(places))
    return answer(
        {
            "offsets": [
                {
                    "topic": each.topic,
                    "partition": each.partition,
                    "offset": each.offset,
                    "metadata": each.metadata or "",
                }
                for each in committed
                if each.offset >= 0
            ]
        }
    )


async def get_records(service: RestService, request: Request) -> Answer:
    """Answer GET .../records."""
    instance = _instance(service, request)
    format_ = instance.settings.format
    wanted = BY_CONTENT_TYPE.get(request.media_type)
    if wanted is not None and wanted is not format_:
        raise format_mismatch(wanted, format_)
    longest_s = instance.settings.request_timeout_s
    timeout_ms = request.number("timeout", -1)
    timeout_s = longest_s if timeout_ms <= 0 else min(timeout_ms / 1000, longest_s)
    most = service.config.request_max_bytes
    max_bytes = request.number("max_bytes", -1)
    records = await read_records(
        service.consumers,
        service.readers,
        instance,
        timeout_s,
        most if max_bytes <= 0 else min(max_bytes, most),
    )
    return Answer(encode(records), content_type=format_.content_type)


async def _seek_to(service: RestService, request: Request, *, first: bool) -> Answer:
    instance = _instance(service, request)
    places = [each.place for each in request.decode(_Partitions).partitions]

    def move(mine: ConsumerInstance) -> None:
        for place in places:
            mine.seek_to_end_of(place, first=first)

    await service.consumers.use(instance, move)
    return _NOTHING


def _instance(service: RestService, request: Request) -> ConsumerInstance:
    return service.consumers.find(request.parameters["group"], request.parameters["instance"])


def _format(name: str | None) -> EmbeddedFormat:
    known = {each.value: each for each in V2_FORMATS}
    found = known.get((name or EmbeddedFormat.BINARY).lower())
    if found is None:
        raise HttpError(
            422, 42204,
            f"Invalid format type '{name}': there are {', '.join(known)}.",
        )  # fmt: skip
    return found


def _reset(value: str | None) -> str | None:
    if value is None:
        return None
    if value not in _RESETS:
        raise invalid_consumer(f"auto.offset.reset is one of {', '.join(_RESETS)}, not '{value}'.")
    return "error" if value == "none" else value


def _flag(value: str | bool | None) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if value.lower() not in ("true", "false"):
        raise invalid_consumer(f"auto.commit.enable is true or false, not '{value}'.")
    return value.lower() == "true"


def _number(name: str, value: str | int | None, default: int, least: int) -> int:
    if value is None:
        return default
    try:
        number = int(value)
    except ValueError:
        raise invalid_consumer(f"{name} is a number, not '{value}'.") from None
    most = MOST_FETCH_MIN_BYTES if least < 0 else 2**31 - 1
    if not least <= number <= most:
        raise invalid_consumer(f"{name} is between {least} and {most}, not {number}.")
    return number
