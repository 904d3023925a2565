"""The uniform assignor: as even as can be, and then with as few moves as can be."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.broker.groups.assignors.spec import GroupSpec
    from headwater.broker.groups.consumer.member import Partitions

NAME = "uniform"

TopicPartition = tuple[bytes, int]

_MAX_ROUNDS = 16
"""Overlapping subscriptions may take many rounds to even out; each about halves what is left."""


def assign(group: GroupSpec) -> dict[str, Partitions]:
    """Leave with each member what it may keep, and spread the rest over those with least."""
    if not group.members:
        return {}
    kept, free = _keep_what_is_valid(group)
    if group.is_homogeneous:
        _fill_to_quota(group, kept, free)
    else:
        _give_to_least_loaded(group, kept, free)
        _even_out(group, kept)
    return {member_id: _by_topic(partitions) for member_id, partitions in kept.items()}


def _keep_what_is_valid(
    group: GroupSpec,
) -> tuple[dict[str, list[TopicPartition]], list[TopicPartition]]:
    taken: set[TopicPartition] = set()
    kept: dict[str, list[TopicPartition]] = {}
    for member_id in sorted(group.members):
        member = group.members[member_id]
        mine = kept[member_id] = []
        for topic_id in sorted(member.topic_ids & member.assigned.keys()):
            count = group.partition_counts[topic_id]
            for partition in sorted(member.assigned[topic_id]):
                if partition < count and (topic_id, partition) not in taken:
                    taken.add((topic_id, partition))
                    mine.append((topic_id, partition))
    subscribed = frozenset().union(*(member.topic_ids for member in group.members.values()))
    free = [
        (topic_id, partition)
        for topic_id in sorted(subscribed)
        for partition in range(group.partition_counts[topic_id])
        if (topic_id, partition) not in taken
    ]
    return kept, free


def _fill_to_quota(
    group: GroupSpec, kept: dict[str, list[TopicPartition]], free: list[TopicPartition]
) -> None:
    total = len(free) + sum(map(len, kept.values()))
    quota, larger = divmod(total, len(group.members))
    # Those who have most keep the extra partition: anybody else's would have to move.
    by_load = sorted(kept, key=lambda member_id: -len(kept[member_id]))
    quotas = {member_id: quota + (position < larger) for position, member_id in enumerate(by_load)}
    for member_id, mine in kept.items():
        free += mine[quotas[member_id] :]
        del mine[quotas[member_id] :]
    rest = iter(sorted(free))
    for member_id, mine in kept.items():
        for _ in range(quotas[member_id] - len(mine)):
            mine.append(next(rest))


def _subscribers(group: GroupSpec) -> dict[bytes, list[str]]:
    subscribers: dict[bytes, list[str]] = defaultdict(list)
    for member_id in sorted(group.members):
        for topic_id in group.members[member_id].topic_ids:
            subscribers[topic_id].append(member_id)
    return subscribers


def _give_to_least_loaded(
    group: GroupSpec, kept: dict[str, list[TopicPartition]], free: list[TopicPartition]
) -> None:
    subscribers = _subscribers(group)
    # Topics with few takers first: the others can make up for them.
    free.sort(key=lambda item: (len(subscribers[item[0]]), item))
    for item in free:
        least = min(subscribers[item[0]], key=lambda member_id: len(kept[member_id]))
        kept[least].append(item)


def _even_out(group: GroupSpec, kept: dict[str, list[TopicPartition]]) -> None:
    load = {member_id: len(partitions) for member_id, partitions in kept.items()}
    held: dict[bytes, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for member_id, partitions in kept.items():
        for topic_id, partition in partitions:
            held[topic_id][member_id].append(partition)
    subscribers = _subscribers(group)
    for _ in range(_MAX_ROUNDS):
        moved = False
        for topic_id in sorted(subscribers):
            moved |= _even_out_topic(subscribers[topic_id], held[topic_id], load)
        if not moved:
            break
    for member_id, partitions in kept.items():
        partitions[:] = [
            (topic_id, partition)
            for topic_id, holders in held.items()
            for partition in holders.get(member_id, ())
        ]


def _even_out_topic(
    subscribers: list[str], holders: dict[str, list[int]], load: dict[str, int]
) -> bool:
    moved = False
    while True:
        least = min(subscribers, key=load.__getitem__)
        givers = (member_id for member_id in subscribers if holders.get(member_id))
        most = max(givers, key=load.__getitem__, default=least)
        if load[most] - load[least] <= 1:
            return moved
        holders[least].append(holders[most].pop())
        load[most] -= 1
        load[least] += 1
        moved = True


def _by_topic(partitions: list[TopicPartition]) -> dict[bytes, frozenset[int]]:
    topics: dict[bytes, set[int]] = defaultdict(set)
    for topic_id, partition in partitions:
        topics[topic_id].add(partition)
    return {topic_id: frozenset(numbers) for topic_id, numbers in topics.items()}
