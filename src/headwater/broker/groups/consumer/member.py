"""A member of a group of the new protocol (KIP-848): what it asked for and what it holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

Partitions = Mapping[bytes, frozenset[int]]
"""Partitions by topic id."""

HeldPartitions = Mapping[bytes, Mapping[int, int]]
"""Partitions by topic id, each with the member epoch at which it was given out."""

NONE_HELD: HeldPartitions = MappingProxyType({})

LEAVE_EPOCH = -1
"""What a member says to leave for good."""
STATIC_LEAVE_EPOCH = -2
"""What a static member says to leave for a while, and its epoch while it is away."""
JOIN_EPOCH = 0


class MemberState(IntEnum):
    """How far a member is on its way to its target, numbered as in Kafka's records."""

    STABLE = 0
    UNREVOKED_PARTITIONS = 1
    """It has been asked to give something up and has not yet said that it did."""
    UNRELEASED_PARTITIONS = 2
    """It waits for partitions that others still hold."""
    UNKNOWN = 127


class ClassicSupport(NamedTuple):
    """What a member that still speaks the classic protocol said when it joined."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, bytes], ...]


class Subscription(NamedTuple):
    """What a member told of itself."""

    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: tuple[str, ...] = ()
    """Sorted, each once."""
    regex: str = ""
    """Empty if there is none."""
    rebalance_timeout_ms: int = -1
    assignor: str | None = None
    classic: ClassicSupport | None = None
    """Set as long as the member speaks the classic protocol."""


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    """One member; every change makes a new one, so that a change can be given up half-way."""

    member_id: str
    subscription: Subscription = field(default_factory=Subscription)
    epoch: int = 0
    previous_epoch: int = 0
    """Accepted as well: the answer that told of the new one may have been lost."""
    state: MemberState = MemberState.STABLE
    assigned: HeldPartitions = field(default_factory=dict)
    revoking: HeldPartitions = field(default_factory=dict)
    """What the member must give up and may still be reading."""

    @property
    def is_classic(self) -> bool:
        """Whether it speaks the classic protocol."""
        return self.subscription.classic is not None

    @property
    def instance_id(self) -> str | None:
        """The name under which a static member comes back."""
        return self.subscription.instance_id

    @property
    def is_away(self) -> bool:
        """Whether it is a static member that has left for a while."""
        return self.epoch == STATIC_LEAVE_EPOCH

    def is_reconciled_to(self, target_epoch: int) -> bool:
        """Whether it holds exactly what the target of this epoch gives it."""
        return self.state is MemberState.STABLE and self.epoch == target_epoch

    def moved_to(
        self,
        epoch: int,
        state: MemberState,
        assigned: HeldPartitions,
        revoking: HeldPartitions = NONE_HELD,
    ) -> ConsumerMember:
        """Return the member one step further on its way."""
        return replace(
            self,
            epoch=epoch,
            previous_epoch=self.epoch,
            state=state,
            assigned=assigned,
            revoking=revoking,
        )


def contains(held: HeldPartitions, topic_id: bytes, partition: int) -> bool:
    """Whether a partition is among those held."""
    return partition in held.get(topic_id, ())


def without_epochs(*held: HeldPartitions) -> dict[bytes, frozenset[int]]:
    """Return only which partitions are held."""
    partitions: dict[bytes, frozenset[int]] = {}
    for one in held:
        for topic_id, numbers in one.items():
            partitions[topic_id] = partitions.get(topic_id, frozenset()) | numbers.keys()
    return partitions
