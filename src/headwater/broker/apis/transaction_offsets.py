"""TxnOffsetCommit: how far a group has come, told in a transaction and counted at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.broker import authorizer
from headwater.broker.groups.environment import Producer
from headwater.broker.groups.offsets.messages import (
    DEFAULT_RETENTION,
    NO_GENERATION,
    CommitRequest,
    CommitResult,
    OffsetToCommit,
)
from headwater.broker.topics.topic_names import CONSUMER_OFFSETS
from headwater.broker.transactions.admission import admit
from headwater.broker.transactions.metadata import TRANSACTION_VERSION, ProducerIdAndEpoch
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    import asyncio

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.topics.partition import Partition

_FIRST_THAT_ADDS_OFFSETS = 5
_FIRST_WITH_ABORTABLE = 4
_NO_EPOCH = -1
_AS_OFFSET_COMMIT = 8
"""The version of OffsetCommit whose rules for members apply: the last without member epochs."""


async def txn_offset_commit(broker: Broker, request: Request) -> Response:
    """Store offsets that count if the transaction is committed."""
    version = request.header.api_version
    wanted = messages.decode_request(
        ApiKey.TXN_OFFSET_COMMIT, version, request.view, request.header.body
    )
    result = CommitResult()
    offsets: list[OffsetToCommit] = []
    errors: dict[tuple[str, int], ErrorCode] = {}
    try:
        request.require(AclOperation.WRITE, authorizer.transactional_id(wanted.transactional_id))
        request.require(AclOperation.READ, authorizer.group(wanted.group_id))
        offsets, errors = _sort_out(broker, request, wanted.topics)
    except KafkaError as error:
        result = CommitResult(error.code)
    if not result.error and (offsets or not errors):
        try:
            result = await _commit(broker, version, wanted, offsets)
        except KafkaError as error:
            result = CommitResult(_known(error.code, version))
    decided = dict(zip(((o.topic, o.partition) for o in offsets), result.partitions, strict=False))
    return messages.encode_response(
        ApiKey.TXN_OFFSET_COMMIT,
        version,
        {
            "topics": [
                {
                    "name": topic.name,
                    "partitions": [
                        {
                            "partition_index": partition.partition_index,
                            "error_code": errors.get((topic.name, partition.partition_index))
                            or result.error
                            or decided.get((topic.name, partition.partition_index), ErrorCode.NONE),
                        }
                        for partition in topic.partitions
                    ],
                }
                for topic in wanted.topics
            ]
        },
    )


async def _commit(
    broker: Broker, version: int, wanted: Any, offsets: list[OffsetToCommit]
) -> CommitResult:
    if not wanted.group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID, "the group has no name")
    producer = ProducerIdAndEpoch(wanted.producer_id, wanted.producer_epoch)
    place = (CONSUMER_OFFSETS, broker.groups.partition_of(wanted.group_id))
    commit = CommitRequest(
        wanted.group_id,
        field(wanted, "member_id", ""),
        field(wanted, "group_instance_id"),
        field(wanted, "generation_id", NO_GENERATION),
        DEFAULT_RETENTION,
        tuple(offsets),
        _AS_OFFSET_COMMIT,
    )
    if version < _FIRST_THAT_ADDS_OFFSETS:
        admit(broker, _partition(broker, place), wanted.transactional_id, producer)
        return await _store(broker, commit, producer)

    async def in_turn() -> asyncio.Future[CommitResult]:
        await broker.transactions.add_in_turn(
            wanted.transactional_id, producer, frozenset({place}), TRANSACTION_VERSION
        )
        return _store(broker, commit, producer)

    stored = await broker.transactions.in_turn(wanted.transactional_id, in_turn)
    return await stored


def _store(
    broker: Broker, commit: CommitRequest, producer: ProducerIdAndEpoch
) -> asyncio.Future[CommitResult]:
    done: asyncio.Future[CommitResult] = broker.loop.create_future()

    def reply(result: CommitResult) -> None:
        if not done.done():
            done.set_result(result)

    broker.groups.commit_in_transaction(commit, Producer(*producer), reply)
    return done


def _sort_out(
    broker: Broker, request: Request, topics: Any
) -> tuple[list[OffsetToCommit], dict[tuple[str, int], ErrorCode]]:
    offsets: list[OffsetToCommit] = []
    errors: dict[tuple[str, int], ErrorCode] = {}
    for topic in topics:
        is_denied = not request.authorize(AclOperation.READ, authorizer.topic(topic.name))
        for partition in topic.partitions:
            if is_denied:
                place = (topic.name, partition.partition_index)
                errors[place] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
                continue
            index = partition.partition_index
            found = broker.topics.partition(topic.name, index)
            if isinstance(found, ErrorCode):
                errors[topic.name, index] = found
                continue
            offsets.append(
                OffsetToCommit(
                    topic.name,
                    found.topic_id,
                    index,
                    partition.committed_offset,
                    field(partition, "committed_leader_epoch", _NO_EPOCH),
                    partition.committed_metadata or "",
                )
            )
    return offsets, errors


def _partition(broker: Broker, place: tuple[str, int]) -> Partition:
    found = broker.topics.partition(*place)
    if isinstance(found, ErrorCode):
        raise KafkaError(ErrorCode.NOT_COORDINATOR, f"{place[0]} is gone.")
    return found


def _known(code: ErrorCode, version: int) -> ErrorCode:
    if code is ErrorCode.PRODUCER_FENCED:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if code is ErrorCode.TRANSACTION_ABORTABLE and version < _FIRST_WITH_ABORTABLE:
        return ErrorCode.INVALID_TXN_STATE
    return code
