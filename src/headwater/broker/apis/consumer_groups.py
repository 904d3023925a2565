"""ConsumerGroupHeartbeat and ConsumerGroupDescribe: the new protocol of groups (KIP-848)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from headwater.broker import authorizer
from headwater.broker.groups.classic.group import ClassicGroup
from headwater.broker.groups.consumer.member import without_epochs
from headwater.broker.groups.consumer.messages import (
    HeartbeatRequest,
    HeartbeatResult,
    check_heartbeat,
)
from headwater.broker.requests.later_answer import LaterAnswer
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    from headwater.broker.broker import Broker
    from headwater.broker.groups.consumer.group import ConsumerGroup
    from headwater.broker.groups.consumer.member import ConsumerMember, Partitions
    from headwater.broker.requests.pending_answer import PendingAnswer
    from headwater.broker.requests.request import Request, Response

_CLASSIC_MEMBER, _CONSUMER_MEMBER = 0, 1
_NOT_ASKED = -(2**31)


def consumer_group_heartbeat(broker: Broker, request: Request) -> Response | PendingAnswer:
    """Take in a member, lead it a step further, or let it go."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.CONSUMER_GROUP_HEARTBEAT, version, request.view, request.header.body
    )
    topics = entity.subscribed_topic_names
    wanted = HeartbeatRequest(
        entity.group_id,
        entity.member_id,
        entity.member_epoch,
        request.header.client_id or "",
        f"/{request.session.client_host}",
        entity.instance_id,
        entity.rack_id,
        field(entity, "rebalance_timeout_ms"),
        None if topics is None else tuple(topics),
        field(entity, "subscribed_topic_regex"),
        entity.server_assignor,
        _owned(entity),
        lambda name: request.probe(AclOperation.DESCRIBE, authorizer.topic(name)),
    )
    answer = LaterAnswer[HeartbeatResult](partial(_encode_heartbeat, version))
    try:
        request.require(AclOperation.READ, authorizer.group(wanted.group_id))
        for name in topics or ():
            request.require(AclOperation.DESCRIBE, authorizer.topic(name))
        check_heartbeat(
            wanted, broker.groups.settings.consumer_assignors, member_makes_id=version >= 1
        )
        broker.groups.shard(wanted.group_id).groups.consumer_heartbeat(wanted, answer)
    except KafkaError as refusal:
        answer(HeartbeatResult(refusal.code, refusal.message))
    return answer.response()


def consumer_group_describe(broker: Broker, request: Request) -> Response:
    """Describe groups of the new protocol: epochs, members, what they have and shall have."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.CONSUMER_GROUP_DESCRIBE, version, request.view, request.header.body
    )
    groups = []
    for group_id in entity.group_ids:
        try:
            described = _describe(broker, request, group_id)
            described["authorized_operations"] = (
                request.authorized_operations(authorizer.group(group_id))
                if entity.include_authorized_operations
                else _NOT_ASKED
            )
            groups.append(described)
        except KafkaError as refusal:
            groups.append(
                {
                    "group_id": group_id,
                    "error_code": refusal.code,
                    "error_message": refusal.message,
                    "authorized_operations": _NOT_ASKED,
                }
            )
    return messages.encode_response(ApiKey.CONSUMER_GROUP_DESCRIBE, version, {"groups": groups})


def _owned(entity: Any) -> Partitions | None:
    if entity.topic_partitions is None:
        return None
    return {
        field(topic, "topic_id"): frozenset(topic.partitions) for topic in entity.topic_partitions
    }


def _encode_heartbeat(version: int, result: HeartbeatResult) -> bytes:
    assignment = None
    if result.assignment is not None:
        assignment = {
            "topic_partitions": [
                {"topic_id": topic_id, "partitions": sorted(partitions)}
                for topic_id, partitions in sorted(result.assignment.items())
            ]
        }
    return messages.encode_response(
        ApiKey.CONSUMER_GROUP_HEARTBEAT,
        version,
        {
            "error_code": result.error,
            "error_message": result.message,
            "member_id": result.member_id,
            "member_epoch": result.epoch,
            "heartbeat_interval_ms": result.heartbeat_interval_ms,
            "assignment": assignment,
        },
    )


def _describe(broker: Broker, request: Request, group_id: str) -> dict[str, Any]:
    request.require(AclOperation.DESCRIBE, authorizer.group(group_id))
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    group = broker.groups.shard(group_id).groups.groups.get(group_id)
    if group is None:
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"there is no group '{group_id}'")
    if isinstance(group, ClassicGroup):
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND, f"the group '{group_id}' uses the classic protocol"
        )
    if not request.need_not_ask and not _may_describe_topics(broker, request, group):
        raise KafkaError(
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
            f"the group '{group_id}' has topics that the client may not describe",
        )
    default_assignor = broker.groups.settings.consumer_assignors[0]
    return {
        "group_id": group_id,
        "group_state": group.state.value,
        "group_epoch": group.epoch,
        "assignment_epoch": group.target_epoch,
        "assignor_name": group.preferred_assignor(default_assignor),
        "members": [_describe_member(broker, group, one) for one in group.members.values()],
    }


def _may_describe_topics(broker: Broker, request: Request, group: ConsumerGroup) -> bool:
    names: set[str] = set()
    for member in group.members.values():
        names.update(member.subscription.topics or ())
        target = group.targets.get(member.member_id, {})
        for topic_id in (*member.assigned, *member.revoking, *target):
            if topic_id in broker.topics.by_id:
                names.add(broker.topics.by_id[topic_id].name)
    return all(request.authorize(AclOperation.DESCRIBE, authorizer.topic(name)) for name in names)


def _describe_member(
    broker: Broker, group: ConsumerGroup, member: ConsumerMember
) -> dict[str, Any]:
    said = member.subscription
    target = group.targets.get(member.member_id, {})
    return {
        "member_id": member.member_id,
        "instance_id": said.instance_id,
        "rack_id": said.rack_id,
        "member_epoch": member.epoch,
        "client_id": said.client_id,
        "client_host": said.client_host,
        "subscribed_topic_names": said.topics,
        "subscribed_topic_regex": said.regex,
        # What it must give up is its own until it has done so.
        "assignment": _describe_partitions(
            broker, without_epochs(member.assigned, member.revoking)
        ),
        "target_assignment": _describe_partitions(broker, target),
        "member_type": _CLASSIC_MEMBER if member.is_classic else _CONSUMER_MEMBER,
    }


def _describe_partitions(broker: Broker, partitions: Partitions) -> dict[str, Any]:
    topics = broker.topics.by_id
    return {
        "topic_partitions": [
            {
                "topic_id": topic_id,
                "topic_name": topics[topic_id].name,
                "partitions": sorted(numbers),
            }
            for topic_id, numbers in sorted(partitions.items())
            if topic_id in topics
        ]
    }
