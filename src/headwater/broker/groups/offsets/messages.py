"""What is asked and answered about offsets, free of versions and encodings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from headwater.broker.groups.offsets.records import CommittedOffset

NO_OFFSET = -1
NO_GENERATION = -1
DEFAULT_RETENTION = -1


class OffsetToCommit(NamedTuple):
    """One offset that a member commits, in a partition that exists."""

    topic: str
    topic_id: bytes
    partition: int
    offset: int
    leader_epoch: int
    metadata: str


class CommitRequest(NamedTuple):
    """A member has come so far, in several partitions at once."""

    group_id: str
    member_id: str
    instance_id: str | None
    generation: int
    """Or the member epoch, in the new protocol; -1 of one who is in no group."""
    retention_ms: int
    offsets: tuple[OffsetToCommit, ...]
    version: int


class CommitResult(NamedTuple):
    """What became of a commit: one error for all, or one for each offset in turn."""

    error: ErrorCode = ErrorCode.NONE
    partitions: tuple[ErrorCode, ...] = ()


class FetchOffsetsRequest(NamedTuple):
    """Somebody wants to know how far a group has come."""

    group_id: str
    member_id: str | None
    member_epoch: int
    topics: Mapping[str, tuple[int, ...]] | None
    """None for all there is."""
    require_stable: bool


class FetchedOffset(NamedTuple):
    """How far a group has come in a partition."""

    partition: int
    committed: CommittedOffset | None
    error: ErrorCode = ErrorCode.NONE


class FetchOffsetsResult(NamedTuple):
    """How far a group has come, by topic."""

    error: ErrorCode = ErrorCode.NONE
    topics: tuple[tuple[str, tuple[FetchedOffset, ...]], ...] = ()


class DeleteOffsetsResult(NamedTuple):
    """What became of the offsets that were to be forgotten, by topic and partition."""

    error: ErrorCode = ErrorCode.NONE
    partitions: Mapping[tuple[str, int], ErrorCode] = {}


CommitReply = Callable[[CommitResult], None]
FetchOffsetsReply = Callable[[FetchOffsetsResult], None]
DeleteOffsetsReply = Callable[[DeleteOffsetsResult], None]
