"""What an assignor is given: the members with their subscriptions, and the topics' sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from headwater.broker.groups.consumer.member import Partitions


class MemberSpec(NamedTuple):
    """One member as an assignor sees it."""

    instance_id: str | None
    topic_ids: frozenset[bytes]
    """The topics that it subscribed to and that exist."""
    assigned: Partitions
    """What the last target gave it."""


class GroupSpec(NamedTuple):
    """A group as an assignor sees it."""

    members: Mapping[str, MemberSpec]
    partition_counts: Mapping[bytes, int]
    """The number of partitions of every topic that a member is subscribed to."""

    @property
    def is_homogeneous(self) -> bool:
        """Whether all members are subscribed to the same topics."""
        return len({member.topic_ids for member in self.members.values()}) <= 1


Assignor = Callable[[GroupSpec], dict[str, Partitions]]
"""Gives each partition of each subscribed topic to exactly one of the topic's subscribers."""
