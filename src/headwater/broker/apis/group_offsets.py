"""OffsetCommit, OffsetFetch and OffsetDelete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.broker import authorizer
from headwater.broker.groups.offsets.messages import (
    DEFAULT_RETENTION,
    NO_GENERATION,
    NO_OFFSET,
    CommitRequest,
    CommitResult,
    DeleteOffsetsResult,
    FetchedOffset,
    FetchOffsetsRequest,
    FetchOffsetsResult,
    OffsetToCommit,
)
from headwater.broker.requests.later_answer import LaterAnswer
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from headwater.broker.broker import Broker
    from headwater.broker.requests.pending_answer import PendingAnswer
    from headwater.broker.requests.request import Request, Response

_FIRST_COMMIT_BY_ID = 10
_FIRST_FETCH_BY_ID = 10
_FIRST_FETCH_OF_SEVERAL_GROUPS = 8
_FIRST_FETCH_WITH_ERROR = 2
NO_EPOCH = -1


class _Commit(NamedTuple):
    """A partition of a commit on its way to its answer."""

    partition: int
    error: ErrorCode
    """What is wrong with the partition itself; NONE if the group shall decide."""


def offset_commit(broker: Broker, request: Request) -> Response | PendingAnswer:
    """Note how far a group has come."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.OFFSET_COMMIT, version, request.view, request.header.body
    )
    topics, offsets = _check_partitions(
        broker, request, entity.topics, by_id=version >= _FIRST_COMMIT_BY_ID
    )
    wanted = CommitRequest(
        entity.group_id,
        entity.member_id,
        field(entity, "group_instance_id"),
        entity.generation_id_or_member_epoch,
        field(entity, "retention_time_ms", DEFAULT_RETENTION),
        tuple(offsets),
        version,
    )
    answer = LaterAnswer[CommitResult](lambda result: _encode_commit(version, topics, result))
    try:
        request.require(AclOperation.READ, authorizer.group(wanted.group_id))
        if topics and not offsets:
            answer(CommitResult())
        else:
            broker.groups.shard(wanted.group_id).offsets.commit(wanted, answer)
    except KafkaError as refusal:
        if refusal.code is ErrorCode.GROUP_AUTHORIZATION_FAILED:
            topics = [
                (name, topic_id, [one._replace(error=refusal.code) for one in partitions])
                for name, topic_id, partitions in topics
            ]
        answer(CommitResult(refusal.code))
    return answer.response()


def offset_fetch(broker: Broker, request: Request) -> Awaitable[Response]:
    """Tell how far groups have come."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.OFFSET_FETCH, version, request.view, request.header.body
    )
    return _fetch(broker, request, entity)


def offset_delete(broker: Broker, request: Request) -> Response | PendingAnswer:
    """Forget offsets of a group."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.OFFSET_DELETE, version, request.view, request.header.body
    )
    wanted = {
        topic.name: [partition.partition_index for partition in topic.partitions]
        for topic in entity.topics
    }
    unknown = {
        (name, index): code
        for name, indexes in wanted.items()
        for index in indexes
        if (code := _delete_error(broker, request, name, index)) is not ErrorCode.NONE
    }
    known = {
        name: [index for index in indexes if (name, index) not in unknown]
        for name, indexes in wanted.items()
    }

    def encode(result: DeleteOffsetsResult) -> bytes:
        topics: list[dict[str, Any]] = []
        if not result.error:
            errors = {**unknown, **result.partitions}
            topics = [
                {
                    "name": name,
                    "partitions": [
                        {"partition_index": index, "error_code": errors[name, index]}
                        for index in indexes
                    ],
                }
                for name, indexes in wanted.items()
            ]
        tree = {"error_code": result.error, "topics": topics}
        return messages.encode_response(ApiKey.OFFSET_DELETE, version, tree)

    answer = LaterAnswer[DeleteOffsetsResult](encode)
    try:
        request.require(AclOperation.DELETE, authorizer.group(entity.group_id))
        if not entity.group_id:
            raise KafkaError(ErrorCode.INVALID_GROUP_ID)
        broker.groups.shard(entity.group_id).offsets.delete(entity.group_id, known, answer)
    except KafkaError as refusal:
        answer(DeleteOffsetsResult(refusal.code))
    return answer.response()


def _delete_error(broker: Broker, request: Request, name: str, index: int) -> ErrorCode:
    if not request.authorize(AclOperation.READ, authorizer.topic(name)):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    if isinstance(broker.topics.partition(name, index), ErrorCode):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE


def _check_partitions(
    broker: Broker, request: Request, topics: Sequence[Any], *, by_id: bool
) -> tuple[list[tuple[str, bytes | None, list[_Commit]]], list[OffsetToCommit]]:
    """Sort out what is committed to partitions that there are."""
    checked: list[tuple[str, bytes | None, list[_Commit]]] = []
    offsets: list[OffsetToCommit] = []
    for topic in topics:
        given_id: bytes | None = (field(topic, "topic_id") or bytes(16)) if by_id else None
        found = (
            broker.topics.by_name.get(topic.name)
            if given_id is None
            else broker.topics.by_id.get(given_id)
        )
        missing = (
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if given_id is None else ErrorCode.UNKNOWN_TOPIC_ID
        )
        name: str | None = found.name if found is not None else None
        if given_id is None:
            name = topic.name
        is_denied = name is not None and not request.authorize(
            AclOperation.READ, authorizer.topic(name)
        )
        partitions: list[_Commit] = []
        for partition in topic.partitions:
            index = partition.partition_index
            if is_denied:
                partitions.append(_Commit(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED))
            elif found is None:
                partitions.append(_Commit(index, missing))
            elif not 0 <= index < len(found.partitions):
                partitions.append(_Commit(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            else:
                partitions.append(_Commit(index, ErrorCode.NONE))
                offsets.append(
                    OffsetToCommit(
                        found.name,
                        found.topic_id,
                        index,
                        partition.committed_offset,
                        field(partition, "committed_leader_epoch", NO_EPOCH),
                        partition.committed_metadata or "",
                    )
                )
        checked.append((field(topic, "name", ""), given_id, partitions))
    return checked, offsets


def _encode_commit(
    version: int,
    topics: Sequence[tuple[str, bytes | None, Sequence[_Commit]]],
    result: CommitResult,
) -> bytes:
    decided = iter(result.partitions)

    def error_of(one: _Commit) -> ErrorCode:
        return one.error or result.error or next(decided, ErrorCode.NONE)

    tree = {
        "topics": [
            {
                "name": name,
                "topic_id": topic_id,
                "partitions": [
                    {"partition_index": one.partition, "error_code": error_of(one)}
                    for one in partitions
                ],
            }
            for name, topic_id, partitions in topics
        ]
    }
    return messages.encode_response(ApiKey.OFFSET_COMMIT, version, tree)


async def _fetch(broker: Broker, request: Request, entity: Any) -> Response:
    version = request.header.api_version
    require_stable = field(entity, "require_stable", False)
    if version < _FIRST_FETCH_OF_SEVERAL_GROUPS:
        tree = await _fetch_group(broker, request, entity, entity.topics, require_stable)
        del tree["group_id"]
        if version < _FIRST_FETCH_WITH_ERROR and tree["error_code"]:
            # There was no place for an error of the whole group yet.
            tree["topics"] = _failed_topics(entity.topics, tree["error_code"])
    else:
        by_id = version >= _FIRST_FETCH_BY_ID
        tree = {
            "groups": [
                await _fetch_group(
                    broker, request, group, group.topics, require_stable, by_id=by_id
                )
                for group in entity.groups
            ]
        }
    return messages.encode_response(ApiKey.OFFSET_FETCH, version, tree)


async def _fetch_group(
    broker: Broker,
    request: Request,
    group: Any,
    topics: Sequence[Any] | None,
    require_stable: bool,
    *,
    by_id: bool = False,
) -> dict[str, Any]:
    if not request.authorize(AclOperation.DESCRIBE, authorizer.group(group.group_id)):
        code = ErrorCode.GROUP_AUTHORIZATION_FAILED
        return {"group_id": group.group_id, "error_code": code, "topics": []}
    names: dict[str, tuple[int, ...]] | None = None
    unknown: list[dict[str, Any]] = []
    if topics is not None:
        names = {}
        for topic in topics:
            name = field(topic, "name", "")
            if by_id:
                topic_id = field(topic, "topic_id") or bytes(16)
                found = broker.topics.by_id.get(topic_id)
                if found is None:
                    unknown.append(_unknown_topic(topic_id, topic.partition_indexes))
                    continue
                name = found.name
            if not request.authorize(AclOperation.DESCRIBE, authorizer.topic(name)):
                indexes = topic.partition_indexes
                unknown.append(
                    {
                        **({"topic_id": topic_id} if by_id else {"name": name}),
                        "partitions": [
                            _no_offset(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
                            for index in indexes
                        ],
                    }
                )
                continue
            names[name] = tuple(topic.partition_indexes)
    wanted = FetchOffsetsRequest(
        group.group_id,
        field(group, "member_id"),
        field(group, "member_epoch", NO_GENERATION),
        names,
        require_stable,
    )
    done: asyncio.Future[FetchOffsetsResult] = broker.loop.create_future()
    try:
        broker.groups.shard(wanted.group_id).offsets.fetch(wanted, _unless_done(done))
        result = await done
    except KafkaError as refusal:
        result = FetchOffsetsResult(refusal.code)
    if result.error:
        return {"group_id": wanted.group_id, "error_code": result.error, "topics": []}
    return {
        "group_id": wanted.group_id,
        "error_code": ErrorCode.NONE,
        "topics": [
            {
                **({"topic_id": broker.topics.by_name[name].topic_id} if by_id else {"name": name}),
                "partitions": [_fetched(one) for one in partitions],
            }
            for name, partitions in result.topics
            if (not by_id or name in broker.topics.by_name)
            and (names is not None or request.probe(AclOperation.DESCRIBE, authorizer.topic(name)))
        ]
        + unknown,
    }


def _unless_done(
    future: asyncio.Future[FetchOffsetsResult],
) -> Callable[[FetchOffsetsResult], None]:
    def reply(result: FetchOffsetsResult) -> None:
        if not future.done():
            future.set_result(result)

    return reply


def _fetched(one: FetchedOffset) -> Mapping[str, Any]:
    committed = one.committed
    if committed is None:
        return _no_offset(one.partition, one.error)
    return {
        "partition_index": one.partition,
        "committed_offset": committed.offset,
        "committed_leader_epoch": committed.leader_epoch,
        "metadata": committed.metadata,
        "error_code": one.error,
    }


def _no_offset(partition: int, error: ErrorCode) -> dict[str, Any]:
    return {
        "partition_index": partition,
        "committed_offset": NO_OFFSET,
        "committed_leader_epoch": NO_EPOCH,
        "metadata": "",
        "error_code": error,
    }


def _unknown_topic(topic_id: bytes, indexes: Sequence[int]) -> dict[str, Any]:
    return {
        "topic_id": topic_id,
        "partitions": [_no_offset(index, ErrorCode.UNKNOWN_TOPIC_ID) for index in indexes],
    }


def _failed_topics(topics: Sequence[Any], error: ErrorCode) -> list[dict[str, Any]]:
    return [
        {
            "name": topic.name,
            "partitions": [_no_offset(index, error) for index in topic.partition_indexes],
        }
        for topic in topics
    ]
