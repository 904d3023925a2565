"""OffsetForLeaderEpoch: where the records of a leader epoch end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.broker.authorizer import CLUSTER, topic
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.requests.request import Request, Response

_UNKNOWN = -1


def offset_for_leader_epoch(broker: Broker, request: Request) -> Response:
    """Look up the end of an epoch in each partition that a client names."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.OFFSET_FOR_LEADER_EPOCH, version, request.view, request.header.body
    )
    may_all = request.probe(AclOperation.CLUSTER_ACTION, CLUSTER)
    topics = []
    for each in entity.topics:
        if request.authorize(AclOperation.DESCRIBE, topic(each.topic), is_covered=may_all):
            found = [_look_up(broker, each.topic, wanted) for wanted in each.partitions]
        else:
            found = [_denied(wanted.partition) for wanted in each.partitions]
        topics.append({"topic": each.topic, "partitions": found})
    return messages.encode_response(ApiKey.OFFSET_FOR_LEADER_EPOCH, version, {"topics": topics})


def _denied(index: int) -> dict[str, Any]:
    return {
        "partition": index,
        "error_code": ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        "leader_epoch": _UNKNOWN,
        "end_offset": _UNKNOWN,
    }


def _look_up(broker: Broker, name: str, wanted: Any) -> dict[str, Any]:
    partition = broker.topics.partition(name, wanted.partition)
    code = ErrorCode.NONE
    epoch = end_offset = _UNKNOWN
    if isinstance(partition, ErrorCode):
        code = partition
    else:
        code = partition.check_leader_epoch(wanted.current_leader_epoch)
        if code is ErrorCode.NONE:
            if wanted.leader_epoch == partition.leader_epoch:
                # The current epoch has not ended, so it goes as far as the log does.
                epoch, end_offset = wanted.leader_epoch, partition.log.log_end_offset
            elif 0 <= wanted.leader_epoch < partition.leader_epoch:
                epoch, end_offset = partition.log.epoch_end_offset(wanted.leader_epoch)
    return {
        "partition": wanted.partition,
        "error_code": code,
        "leader_epoch": epoch,
        "end_offset": end_offset,
    }
