"""DeleteRecords: moves the start of a log forward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.broker.authorizer import topic
from headwater.broker.requests.log_errors import error_code_of
from headwater.broker.topics.topic_names import INTERNAL_TOPICS
from headwater.log.errors import LogError
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response
    from headwater.broker.topics.partition import Partition

_UP_TO_THE_END = -1


def delete_records(broker: Broker, request: Request) -> Awaitable[Response]:
    """Delete the records before an offset in each partition that a client names."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.DELETE_RECORDS, version, request.view, request.header.body
    )
    return _respond(broker, request, entity)


async def _respond(broker: Broker, request: Request, entity: Any) -> Response:
    topics = []
    for each in entity.topics:
        offsets = {partition.partition_index: partition.offset for partition in each.partitions}
        if request.authorize(AclOperation.DELETE, topic(each.name)):
            results = [
                await _delete(broker, each.name, index, offset) for index, offset in offsets.items()
            ]
        else:
            results = [_result(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED) for index in offsets]
        topics.append({"name": each.name, "partitions": results})
    # Kafka leaves this to the next checkpoint, and a crash before it brings the records back.
    await broker.loop.run_in_executor(None, broker.logs.checkpoint)
    return messages.encode_response(
        ApiKey.DELETE_RECORDS, request.header.api_version, {"topics": topics}
    )


async def _delete(broker: Broker, name: str, index: int, offset: int) -> dict[str, Any]:
    partition = broker.topics.partition(name, index)
    code = partition if isinstance(partition, ErrorCode) else _refusal(partition, name, offset)
    low_watermark = -1
    if code is ErrorCode.NONE and not isinstance(partition, ErrorCode):
        end = partition.high_watermark
        try:
            low_watermark = await partition.delete_records(
                end if offset == _UP_TO_THE_END else offset
            )
        except LogError as error:
            code = error_code_of(error)
    return _result(index, code, low_watermark)


def _result(index: int, code: ErrorCode, low_watermark: int = -1) -> dict[str, Any]:
    return {"partition_index": index, "low_watermark": low_watermark, "error_code": code}


def _refusal(partition: Partition, name: str, offset: int) -> ErrorCode:
    if name in INTERNAL_TOPICS:
        return ErrorCode.INVALID_TOPIC_EXCEPTION
    config = partition.log.config
    if config.compacts and not config.deletes:
        return ErrorCode.POLICY_VIOLATION
    if offset != _UP_TO_THE_END and not 0 <= offset <= partition.high_watermark:
        return ErrorCode.OFFSET_OUT_OF_RANGE
    return ErrorCode.NONE
