"""ListOffsets: from a time, or one of Kafka's named places, to an offset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.authorizer import topic
from headwater.broker.fetch.pull import READ_COMMITTED
from headwater.broker.requests.log_errors import error_code_of
from headwater.log.errors import LogError
from headwater.protocol import list_offsets as codec
from headwater.protocol.acls import AclOperation
from headwater.protocol.errors import ErrorCode
from headwater.protocol.list_offsets import ListOffsetsPartition, PartitionOffset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.topics.partition import Partition

_FIRST_VERSION_OF = {
    codec.MAX_TIMESTAMP: 7,
    codec.EARLIEST_LOCAL_TIMESTAMP: 8,
    codec.LATEST_TIERED_TIMESTAMP: 9,
    codec.EARLIEST_PENDING_UPLOAD_TIMESTAMP: 11,
}


def list_offsets(broker: Broker, request: Request) -> Response:
    """Look up one offset in each partition that the client names."""
    version = request.header.api_version
    wanted = codec.decode_request(version, request.view, request.header.body)
    results = []
    for each in wanted.topics:
        by_index = _by_index(each.partitions)
        if request.authorize(AclOperation.DESCRIBE, topic(each.name)):
            found = [
                PartitionOffset(index, ErrorCode.INVALID_REQUEST)
                if len(asked) > 1
                else _look_up(broker, version, wanted.isolation_level, each.name, asked[0])
                for index, asked in by_index.items()
            ]
        else:
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            found = [PartitionOffset(index, code) for index in by_index]
        results.append((each.name, found))
    return codec.encode_response(version, results)


def _by_index(
    partitions: Sequence[ListOffsetsPartition],
) -> dict[int, list[ListOffsetsPartition]]:
    """What is asked of each partition: the answer has one place for each, so twice is refused."""
    asked: dict[int, list[ListOffsetsPartition]] = {}
    for partition in partitions:
        asked.setdefault(partition.index, []).append(partition)
    return asked


def _look_up(
    broker: Broker, version: int, isolation_level: int, name: str, asked: ListOffsetsPartition
) -> PartitionOffset:
    partition = broker.topics.partition(name, asked.index)
    if isinstance(partition, ErrorCode):
        return PartitionOffset(asked.index, partition)
    stale = partition.check_leader_epoch(asked.current_leader_epoch)
    if stale is not ErrorCode.NONE:
        return PartitionOffset(asked.index, stale)
    if version < _FIRST_VERSION_OF.get(asked.timestamp, 0) or asked.timestamp < -6:
        return PartitionOffset(asked.index, ErrorCode.UNSUPPORTED_VERSION)
    try:
        only_committed = isolation_level == READ_COMMITTED
        end = partition.last_stable_offset if only_committed else partition.high_watermark
        timestamp, offset = _offset_at(partition, asked.timestamp, end)
    except LogError as error:
        return PartitionOffset(asked.index, error_code_of(error))
    epoch = partition.leader_epoch if offset >= 0 else -1
    return PartitionOffset(asked.index, ErrorCode.NONE, timestamp, offset, epoch)


def _offset_at(partition: Partition, timestamp: int, end: int) -> tuple[int, int]:
    """Return the timestamp and offset that were found, -1 for what was not."""
    match timestamp:
        case codec.LATEST_TIMESTAMP:
            return -1, end
        case codec.EARLIEST_TIMESTAMP | codec.EARLIEST_LOCAL_TIMESTAMP:
            return -1, partition.log.log_start_offset
        case codec.LATEST_TIERED_TIMESTAMP | codec.EARLIEST_PENDING_UPLOAD_TIMESTAMP:
            # Nothing is ever tiered, which Kafka expresses as no offset at all.
            return -1, -1
        case codec.MAX_TIMESTAMP:
            found = partition.log.max_timestamp()
        case _:
            found = partition.log.offset_for_timestamp(timestamp, end)
    if found is None or found.offset >= end:
        return -1, -1
    return found.timestamp, found.offset
