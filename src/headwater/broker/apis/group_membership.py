"""JoinGroup, SyncGroup, Heartbeat and LeaveGroup: the classic protocol of groups."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from headwater.broker.authorizer import group, topic
from headwater.broker.groups.classic.messages import (
    JoinRequest,
    JoinResult,
    LeaveResult,
    LeavingMember,
    SyncRequest,
    SyncResult,
)
from headwater.broker.requests.later_answer import LaterAnswer
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.broker.broker import Broker
    from headwater.broker.groups.coordinator import Shard
    from headwater.broker.requests.pending_answer import PendingAnswer
    from headwater.broker.requests.request import Request, Response

_FIRST_JOIN_WITH_KNOWN_MEMBER = 4
_FIRST_JOIN_WITH_NULL_PROTOCOL = 7
_FIRST_JOIN_WITH_SKIPPED_ASSIGNMENT = 9
_FIRST_LEAVE_OF_SEVERAL = 3


def join_group(broker: Broker, request: Request) -> Response | PendingAnswer:
    """Take a member into the next generation of its group."""
    version = request.header.api_version
    entity = _decode(ApiKey.JOIN_GROUP, request)
    session_timeout_ms = field(entity, "session_timeout_ms")
    rebalance_timeout_ms = field(entity, "rebalance_timeout_ms", -1)
    wanted = JoinRequest(
        entity.group_id,
        entity.member_id,
        field(entity, "group_instance_id"),
        request.header.client_id or "",
        f"/{request.session.client_host}",
        session_timeout_ms,
        session_timeout_ms if rebalance_timeout_ms < 0 else rebalance_timeout_ms,
        entity.protocol_type,
        tuple((protocol.name, protocol.metadata) for protocol in entity.protocols),
        needs_known_member_id=version >= _FIRST_JOIN_WITH_KNOWN_MEMBER,
        can_skip_assignment=version >= _FIRST_JOIN_WITH_SKIPPED_ASSIGNMENT,
        reason=field(entity, "reason"),
        sees=lambda name: request.probe(AclOperation.DESCRIBE, topic(name)),
    )
    answer = LaterAnswer[JoinResult](partial(_encode_join, version))
    try:
        _shard(broker, request, wanted.group_id).groups.join(wanted, answer)
    except KafkaError as refusal:
        answer(JoinResult(refusal.code, wanted.member_id))
    return answer.response()


def sync_group(broker: Broker, request: Request) -> Response | PendingAnswer:
    """Give a member its assignment."""
    entity = _decode(ApiKey.SYNC_GROUP, request)
    wanted = SyncRequest(
        entity.group_id,
        entity.generation_id,
        entity.member_id,
        field(entity, "group_instance_id"),
        field(entity, "protocol_type"),
        field(entity, "protocol_name"),
        {one.member_id: one.assignment for one in entity.assignments},
    )
    answer = LaterAnswer[SyncResult](partial(_encode_sync, request.header.api_version))
    try:
        _shard(broker, request, wanted.group_id).groups.sync(wanted, answer)
    except KafkaError as refusal:
        answer(SyncResult(refusal.code))
    return answer.response()


def heartbeat(broker: Broker, request: Request) -> Response:
    """Keep a member alive."""
    entity = _decode(ApiKey.HEARTBEAT, request)
    try:
        shard = _shard(broker, request, entity.group_id)
    except KafkaError as refusal:
        # A group that is still being read cannot have lost anybody yet.
        is_loading = refusal.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        error = ErrorCode.NONE if is_loading else refusal.code
    else:
        error = shard.groups.heartbeat(
            entity.group_id,
            entity.member_id,
            field(entity, "group_instance_id"),
            entity.generation_id,
        )
    return messages.encode_response(
        ApiKey.HEARTBEAT, request.header.api_version, {"error_code": error}
    )


def leave_group(broker: Broker, request: Request) -> Response | PendingAnswer:
    """Let members go."""
    version = request.header.api_version
    entity = _decode(ApiKey.LEAVE_GROUP, request)
    if version >= _FIRST_LEAVE_OF_SEVERAL:
        leaving = [
            LeavingMember(one.member_id, one.group_instance_id, field(one, "reason"))
            for one in entity.members
        ]
    else:
        leaving = [LeavingMember(entity.member_id, None)]
    answer = LaterAnswer[tuple[ErrorCode, "Sequence[LeaveResult]"]](partial(_encode_leave, version))
    try:
        _shard(broker, request, entity.group_id).groups.leave(
            entity.group_id, leaving, lambda error, results: answer((error, results))
        )
    except KafkaError as refusal:
        answer((refusal.code, []))
    return answer.response()


def _decode(api_key: ApiKey, request: Request) -> Any:
    return messages.decode_request(
        api_key, request.header.api_version, request.view, request.header.body
    )


def _shard(broker: Broker, request: Request, group_id: str) -> Shard:
    request.require(AclOperation.READ, group(group_id))
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    return broker.groups.shard(group_id)


def _encode_join(version: int, result: JoinResult) -> bytes:
    protocol_name = result.protocol_name
    if protocol_name is None and version < _FIRST_JOIN_WITH_NULL_PROTOCOL:
        protocol_name = ""
    return messages.encode_response(
        ApiKey.JOIN_GROUP,
        version,
        {
            "error_code": result.error,
            "generation_id": result.generation,
            "protocol_type": result.protocol_type,
            "protocol_name": protocol_name,
            "leader": result.leader_id,
            "skip_assignment": result.skip_assignment,
            "member_id": result.member_id,
            "members": [
                {
                    "member_id": member.member_id,
                    "group_instance_id": member.instance_id,
                    "metadata": member.metadata,
                }
                for member in result.members
            ],
        },
    )


def _encode_sync(version: int, result: SyncResult) -> bytes:
    return messages.encode_response(
        ApiKey.SYNC_GROUP,
        version,
        {
            "error_code": result.error,
            "protocol_type": result.protocol_type,
            "protocol_name": result.protocol_name,
            "assignment": result.assignment,
        },
    )


def _encode_leave(version: int, outcome: tuple[ErrorCode, Sequence[LeaveResult]]) -> bytes:
    error, results = outcome
    if version < _FIRST_LEAVE_OF_SEVERAL and not error and results:
        error = results[0].error
    return messages.encode_response(
        ApiKey.LEAVE_GROUP,
        version,
        {
            "error_code": error,
            "members": [
                {
                    "member_id": result.member_id,
                    "group_instance_id": result.instance_id,
                    "error_code": result.error,
                }
                for result in results
            ],
        },
    )
