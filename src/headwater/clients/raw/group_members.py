"""What coordinators say of their groups' members: how many there are, and what each reads."""

from __future__ import annotations

from collections import defaultdict
from struct import Struct, error
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.metrics.cluster_state import Owner, ShareGroupState, SharePartition
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_VERSION_AND_COUNT = Struct(">hi")
_SHORT = Struct(">h")
_INT = Struct(">i")


class Members(NamedTuple):
    """The members of a group."""

    state: str
    count: int  # type: ignore[assignment]  # hides tuple.count, which nobody misses
    owners: Mapping[tuple[str, int], Owner]


def classic_members(answer: Any) -> dict[str, Members]:
    """Return the members of classic groups, from an answer to DescribeGroups."""
    return {
        group.group_id: Members(
            group.group_state,
            len(group.members),
            {
                place: Owner(member.member_id, member.client_host, member.client_id)
                for member in group.members
                if group.protocol_type == "consumer"
                for place in assigned_partitions(bytes(member.member_assignment))
            },
        )
        for group in answer.groups
        if group.error_code == ErrorCode.NONE
    }


def consumer_members(answer: Any) -> dict[str, Members]:
    """Return the members of consumer groups, from an answer to ConsumerGroupDescribe."""
    return {
        group.group_id: Members(
            group.group_state,
            len(group.members),
            {
                (topic.topic_name, index): Owner(
                    member.member_id, member.client_host, member.client_id
                )
                for member in group.members
                for topic in member.assignment.topic_partitions
                for index in topic.partitions
            },
        )
        for group in answer.groups
        if group.error_code == ErrorCode.NONE
    }


def share_groups(described: Any, offsets: Any) -> Iterator[ShareGroupState]:
    """Return share groups, from answers to ShareGroupDescribe and DescribeShareGroupOffsets."""
    told = {
        group.group_id: {
            (topic.topic_name, each.partition_index): each
            for topic in group.topics
            for each in topic.partitions
            if each.error_code == ErrorCode.NONE
        }
        for group in offsets.groups
        if group.error_code == ErrorCode.NONE
    }
    for group in described.groups:
        if group.error_code != ErrorCode.NONE:
            continue
        readers: defaultdict[tuple[str, int], list[Owner]] = defaultdict(list)
        for member in group.members:
            for topic in member.assignment.topic_partitions:
                for index in topic.partitions:
                    owner = Owner(member.member_id, member.client_host, member.client_id)
                    readers[topic.topic_name, index].append(owner)
        known = told.get(group.group_id, {})
        yield ShareGroupState(
            group.group_id,
            group.group_state,
            len(group.members),
            {
                place: _share_partition(known.get(place), readers.get(place, ()))
                for place in sorted({*known, *readers})
            },
        )


def assigned_partitions(assignment: bytes) -> list[tuple[str, int]]:
    """Return what a leader has assigned to a member, in the consumer protocol's format.

    >>> assigned_partitions(bytes.fromhex("0000 00000001 000161 00000001 00000003 ffffffff"))
    [('a', 3)]

    What clients send each other is not the broker's concern, so it may be anything.
    """
    try:
        return list(_partitions(assignment))
    except (error, UnicodeDecodeError):
        return []


def _share_partition(told: Any, readers: Sequence[Owner]) -> SharePartition:
    # Kafka has told the lag since 4.2; -1 is what it does not know yet.
    start, lag = getattr(told, "start_offset", -1), getattr(told, "lag", -1)
    return SharePartition(start if start >= 0 else None, lag if lag >= 0 else None, readers)


def _partitions(assignment: bytes) -> Iterator[tuple[str, int]]:
    if not assignment:
        return
    _, topics = _VERSION_AND_COUNT.unpack_from(assignment)
    position = _VERSION_AND_COUNT.size
    for _ in range(topics):
        (length,) = _SHORT.unpack_from(assignment, position)
        position += _SHORT.size
        name = assignment[position : position + length].decode()
        position += length
        (count,) = _INT.unpack_from(assignment, position)
        position += _INT.size
        for _ in range(count):
            (index,) = _INT.unpack_from(assignment, position)
            position += _INT.size
            yield name, index
