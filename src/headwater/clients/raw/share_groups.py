"""Share groups, of which client libraries know nothing yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.clients.raw.admin import Node, check
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from headwater.clients.raw.admin import RawAdmin

_SHARE = "share"
_GROUP = 0
_LIST_VERSION = 5  # the first that knows types of groups
_FIND_VERSION = 1
_DESCRIBE_VERSION = 1


class ShareGroup(NamedTuple):
    """A share group as its coordinator lists it."""

    group_id: str
    state: str
    coordinator: Node


class ShareMember(NamedTuple):
    """A member of a share group, and the partitions that it reads."""

    member_id: str
    client_id: str
    host: str
    partitions: list[tuple[str, int]]


class DescribedShareGroup(NamedTuple):
    """A share group with its members."""

    group: ShareGroup
    assignor: str
    members: list[ShareMember]


def list_share_groups(admin: RawAdmin) -> list[ShareGroup]:
    """Return all share groups of the cluster, by id; raises ClientError."""
    found = []
    for node in admin.brokers():
        body: dict[str, Any] = {"states_filter": [], "types_filter": [_SHARE]}
        answer = admin.ask(node, ApiKey.LIST_GROUPS, _LIST_VERSION, body)
        check(answer.error_code, "listing share groups")
        found += [ShareGroup(each.group_id, each.group_state, node) for each in answer.groups]
    return sorted(found)


def describe_share_group(admin: RawAdmin, group_id: str) -> DescribedShareGroup | None:
    """Return a share group, or None where there is none; raises ClientError."""
    found = admin.ask_any(
        ApiKey.FIND_COORDINATOR, _FIND_VERSION, {"key": group_id, "key_type": _GROUP}
    )
    check(found.error_code, f"finding the coordinator of '{group_id}'")
    node = Node(found.node_id, found.host, found.port)
    body = {"group_ids": [group_id], "include_authorized_operations": False}
    answer = admin.ask(node, ApiKey.SHARE_GROUP_DESCRIBE, _DESCRIBE_VERSION, body)
    (group,) = answer.groups
    if group.error_code == ErrorCode.GROUP_ID_NOT_FOUND:
        return None
    check(group.error_code, f"describing the share group '{group_id}'")
    return DescribedShareGroup(
        ShareGroup(group_id, group.group_state, node),
        group.assignor_name,
        [
            ShareMember(
                member.member_id,
                member.client_id,
                member.client_host,
                [
                    (topic.topic_name, index)
                    for topic in member.assignment.topic_partitions
                    for index in topic.partitions
                ],
            )
            for member in group.members
        ],
    )
