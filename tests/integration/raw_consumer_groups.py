"""Requests of the new group protocol over the raw client, each reduced to what a test asks."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from kio.schema.errors import ErrorCode
from tests.waiting import wait_for

if TYPE_CHECKING:
    import uuid
    from collections.abc import Mapping, Sequence

    from tests.integration.raw_client import RawClient
    from tests.integration.raw_requests import Topic

REBALANCE_MS = 5_000

Held = dict[str, list[int]]


class Beat(NamedTuple):
    """The answer to a heartbeat; what the member holds is None if it was not told."""

    error: ErrorCode
    epoch: int
    held: dict[uuid.UUID, list[int]] | None
    member: str | None
    message: str | None


def beat(
    client: RawClient,
    group: str,
    member: str,
    epoch: int,
    *,
    version: int = 1,
    owned: Mapping[Topic, Sequence[int]] | None = None,
    **fields: Any,
) -> Beat:
    """ConsumerGroupHeartbeat."""
    partitions = None
    if owned is not None:
        partitions = [{"topic_id": t.id, "partitions": list(p)} for t, p in owned.items()]
    answer = client.call(
        "consumer_group_heartbeat",
        version,
        group_id=group,
        member_id=member,
        member_epoch=epoch,
        topic_partitions=partitions,
        **fields,
    )
    held = None
    if answer.assignment is not None:
        topics = answer.assignment.topic_partitions
        held = {topic.topic_id: sorted(topic.partitions) for topic in topics}
    return Beat(
        ErrorCode(answer.error_code),
        answer.member_epoch,
        held,
        answer.member_id,
        answer.error_message,
    )


def enter(
    client: RawClient, group: str, member: str, topics: Sequence[Topic] | None, **fields: Any
) -> Beat:
    """Join a group."""
    given: dict[str, Any] = {
        "rebalance_timeout": REBALANCE_MS,
        "subscribed_topic_names": None if topics is None else [topic.name for topic in topics],
        "owned": {},
    }
    return beat(client, group, member, 0, **{**given, **fields})


def describe_consumer_group(client: RawClient, group: str, version: int = 1) -> Any:
    answer = client.call(
        "consumer_group_describe", version, group_ids=[group], include_authorized_operations=True
    )
    (described,) = answer.groups
    return described


def wait_until_left(client: RawClient, group: str) -> None:
    """Return when the group has lost its last member."""
    wait_for(
        lambda: describe_consumer_group(client, group),
        until=lambda found: found.group_state == "Empty",
    )


def held_by(described: Any) -> dict[str, Held]:
    """What each member of a described group holds, by topic name."""
    return {
        member.member_id: {
            topic.topic_name: sorted(topic.partitions)
            for topic in member.assignment.topic_partitions
        }
        for member in described.members
    }


def embedded_subscription(
    topics: Sequence[str], owned: Mapping[str, Sequence[int]] | None = None, generation: int = -1
) -> bytes:
    """What a cooperative classic consumer sends with its JoinGroup (version 3)."""
    return b"".join(
        (
            struct.pack(">hi", 3, len(topics)),
            *map(_string, topics),
            struct.pack(">i", -1),
            _partitions(owned or {}),
            struct.pack(">ih", generation, -1),
        )
    )


def embedded_assignment(partitions: Mapping[str, Sequence[int]]) -> bytes:
    """What a classic leader sends to a member (version 3)."""
    return struct.pack(">h", 3) + _partitions(partitions) + struct.pack(">i", -1)


def _string(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _partitions(partitions: Mapping[str, Sequence[int]]) -> bytes:
    parts = [struct.pack(">i", len(partitions))]
    for topic, numbers in partitions.items():
        parts += [_string(topic), struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)]
    return b"".join(parts)
