"""What a group of the classic protocol is asked and answers, free of versions and encodings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.groups.consumer.topic_regex import sees_all

if TYPE_CHECKING:
    from headwater.protocol.errors import ErrorCode

Protocols = tuple[tuple[str, bytes], ...]
"""Name and metadata of the assignors that a member knows, the one it likes best first."""

UNKNOWN_MEMBER = ""
NO_GENERATION = -1


class JoinRequest(NamedTuple):
    """A member wants to be in the next generation."""

    group_id: str
    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocol_type: str
    protocols: Protocols
    needs_known_member_id: bool
    """Whether a newcomer is first given an id and has to come again (KIP-394)."""
    can_skip_assignment: bool
    """Whether it understands, as a leader, that nothing is to be assigned (KIP-814)."""
    reason: str | None = None
    sees: Callable[[str], bool] = sees_all
    """Whether the member may know that there is a topic."""


class JoinedMember(NamedTuple):
    """One of the members that the leader is told of."""

    member_id: str
    instance_id: str | None
    metadata: bytes


class JoinResult(NamedTuple):
    """The generation that a member is in, or why it is not."""

    error: ErrorCode
    member_id: str = UNKNOWN_MEMBER
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader_id: str = ""
    skip_assignment: bool = False
    members: tuple[JoinedMember, ...] = ()


class SyncRequest(NamedTuple):
    """A member wants its assignment; the leader brings those of all."""

    group_id: str
    generation: int
    member_id: str
    instance_id: str | None
    protocol_type: str | None
    protocol_name: str | None
    assignments: dict[str, bytes]


class SyncResult(NamedTuple):
    """A member's assignment, or why there is none."""

    error: ErrorCode
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b""


class LeavingMember(NamedTuple):
    """Who leaves; with an instance id alone, an administrator removes a static member."""

    member_id: str
    instance_id: str | None
    reason: str | None = None


class LeaveResult(NamedTuple):
    """What became of one who leaves."""

    member_id: str
    instance_id: str | None
    error: ErrorCode


JoinReply = Callable[[JoinResult], None]
SyncReply = Callable[[SyncResult], None]
