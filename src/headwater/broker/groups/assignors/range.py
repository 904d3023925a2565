"""The range assignor: neighbouring partitions to one member, the same ones of every topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.broker.groups.assignors.spec import GroupSpec
    from headwater.broker.groups.consumer.member import Partitions

NAME = "range"


def assign(group: GroupSpec) -> dict[str, Partitions]:
    """Cut each topic into ranges of nearly equal size, one for each subscriber in turn.

    Topics of equal size are cut in the same places, so that a member gets the same partition
    numbers of each and can join them.
    """
    assigned: dict[str, dict[bytes, frozenset[int]]] = {
        member_id: {} for member_id in group.members
    }
    in_order = sorted(group.members, key=lambda member_id: _place(group, member_id))
    for topic_id, count in group.partition_counts.items():
        subscribers = [
            member_id for member_id in in_order if topic_id in group.members[member_id].topic_ids
        ]
        if not subscribers:
            continue
        size, larger = divmod(count, len(subscribers))
        start = 0
        for position, member_id in enumerate(subscribers):
            end = start + size + (position < larger)
            if end > start:
                assigned[member_id][topic_id] = frozenset(range(start, end))
            start = end
    return dict(assigned)


def _place(group: GroupSpec, member_id: str) -> tuple[bool, str]:
    # A static member keeps its name, and with it its place and its ranges, over a restart.
    instance_id = group.members[member_id].instance_id
    return (instance_id is None, instance_id or member_id)
