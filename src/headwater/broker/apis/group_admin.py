"""DescribeGroups, ListGroups and DeleteGroups."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from headwater.broker import authorizer
from headwater.broker.authorizer import CLUSTER
from headwater.broker.groups.classic.group import ClassicGroup, ClassicState
from headwater.protocol import messages
from headwater.protocol.acls import AclOperation
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode, KafkaError
from headwater.protocol.messages import field

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Sequence

    from headwater.broker.broker import Broker
    from headwater.broker.groups.shard import Group
    from headwater.broker.requests.request import Request, Response

_FIRST_DESCRIBE_WITH_NOT_FOUND = 6
_NOT_ASKED = -(2**31)
_CLASSIC, _CONSUMER = "classic", "consumer"


def describe_groups(broker: Broker, request: Request) -> Response:
    """Describe groups of the classic protocol."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.DESCRIBE_GROUPS, version, request.view, request.header.body
    )
    asks = field(entity, "include_authorized_operations", False)
    groups = []
    for group_id in entity.groups:
        resource = authorizer.group(group_id)
        if request.authorize(AclOperation.DESCRIBE, resource):
            tree = _describe(broker, group_id, version)
        else:
            code = ErrorCode.GROUP_AUTHORIZATION_FAILED
            tree = {"group_id": group_id, "error_code": code}
        tree["authorized_operations"] = (
            request.authorized_operations(resource)
            if asks and tree["error_code"] is ErrorCode.NONE
            else _NOT_ASKED
        )
        groups.append(tree)
    return messages.encode_response(ApiKey.DESCRIBE_GROUPS, version, {"groups": groups})


def list_groups(broker: Broker, request: Request) -> Response:
    """List all groups, or those in some states or of some types."""
    version = request.header.api_version
    entity = messages.decode_request(ApiKey.LIST_GROUPS, version, request.view, request.header.body)
    states = {state.lower() for state in field(entity, "states_filter", ())}
    types = {kind.lower() for kind in field(entity, "types_filter", ())}
    may_see_all = request.probe(AclOperation.DESCRIBE, CLUSTER)
    error = ErrorCode.NONE
    groups: list[dict[str, Any]] = []
    try:
        for shard in broker.groups.all_shards():
            groups += [
                listed
                for group in shard.groups.groups.values()
                for listed in [_list(group)]
                if (not states or listed["group_state"].lower() in states)
                and (not types or listed["group_type"] in types)
                and (
                    may_see_all
                    or request.probe(AclOperation.DESCRIBE, authorizer.group(group.group_id))
                )
            ]
    except KafkaError as refusal:
        error, groups = refusal.code, []
    return messages.encode_response(
        ApiKey.LIST_GROUPS, version, {"error_code": error, "groups": groups}
    )


def delete_groups(broker: Broker, request: Request) -> Awaitable[Response]:
    """Delete groups that have no members, with their offsets."""
    version = request.header.api_version
    entity = messages.decode_request(
        ApiKey.DELETE_GROUPS, version, request.view, request.header.body
    )
    return _delete(broker, request, tuple(dict.fromkeys(entity.groups_names)))


async def _delete(broker: Broker, request: Request, group_ids: Sequence[str]) -> Response:
    errors: dict[str, ErrorCode] = {}
    by_shard: dict[int, list[str]] = defaultdict(list)
    for group_id in group_ids:
        try:
            request.require(AclOperation.DELETE, authorizer.group(group_id))
            broker.groups.shard(group_id)
        except KafkaError as refusal:
            errors[group_id] = refusal.code
        else:
            by_shard[broker.groups.partition_of(group_id)].append(group_id)
    for names in by_shard.values():
        done: asyncio.Future[Sequence[ErrorCode]] = broker.loop.create_future()
        broker.groups.shard(names[0]).groups.delete(names, done.set_result)
        errors.update(zip(names, await done, strict=True))
    results = [{"group_id": name, "error_code": errors[name]} for name in group_ids]
    return messages.encode_response(
        ApiKey.DELETE_GROUPS, request.header.api_version, {"results": results}
    )


def _list(group: Group) -> dict[str, Any]:
    return {
        "group_id": group.group_id,
        "protocol_type": group.protocol_type or "",
        "group_state": group.state.value,
        "group_type": _CLASSIC if isinstance(group, ClassicGroup) else _CONSUMER,
    }


def _describe(broker: Broker, group_id: str, version: int) -> dict[str, Any]:
    try:
        group = broker.groups.shard(group_id).groups.groups.get(group_id)
    except KafkaError as refusal:
        return {"group_id": group_id, "error_code": refusal.code}
    if not isinstance(group, ClassicGroup):
        not_found: dict[str, Any] = {
            "group_id": group_id,
            "error_code": ErrorCode.NONE,
            "group_state": ClassicState.DEAD.value,
        }
        if version >= _FIRST_DESCRIBE_WITH_NOT_FOUND:
            not_found["error_code"] = ErrorCode.GROUP_ID_NOT_FOUND
            not_found["error_message"] = (
                f"there is no group '{group_id}'"
                if group is None
                else f"the group '{group_id}' uses the new protocol"
            )
        return not_found
    # Before the leader has assigned, what members said may not be what they will be given.
    is_settled = group.state is ClassicState.STABLE
    return {
        "group_id": group_id,
        "error_code": ErrorCode.NONE,
        "group_state": group.state.value,
        "protocol_type": group.protocol_type or "",
        "protocol_data": (group.protocol_name or "") if is_settled else "",
        "members": [
            {
                "member_id": member.member_id,
                "group_instance_id": member.instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "member_metadata": member.metadata(group.protocol_name) if is_settled else b"",
                "member_assignment": member.assignment,
            }
            for member in group.members.values()
        ],
    }
