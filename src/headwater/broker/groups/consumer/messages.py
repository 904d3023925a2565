"""What a group of the new protocol is asked and answers, free of versions and encodings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.groups.consumer.member import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    Partitions,
)
from headwater.broker.groups.consumer.topic_regex import sees_all
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable

NOT_GIVEN = -1


class HeartbeatRequest(NamedTuple):
    """A member says that it is there; None is what has not changed since it last spoke."""

    group_id: str
    member_id: str
    epoch: int
    client_id: str
    client_host: str
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = NOT_GIVEN
    topics: tuple[str, ...] | None = None
    regex: str | None = None
    assignor: str | None = None
    owned: Partitions | None = None
    sees: Callable[[str], bool] = sees_all
    """Whether the member may know that there is a topic; its pattern matches no others."""

    @property
    def is_full(self) -> bool:
        """Whether it says everything, as one does who joins or has lost an answer of ours."""
        if self.epoch == JOIN_EPOCH:
            return True
        names_topics = self.topics is not None or self.regex is not None
        return names_topics and self.rebalance_timeout_ms != NOT_GIVEN and self.owned is not None


class HeartbeatResult(NamedTuple):
    """What a member may read from now on, or why it has no say."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    member_id: str | None = None
    epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: Partitions | None = None
    """None if it has not changed."""


def check_heartbeat(
    request: HeartbeatRequest, assignors: tuple[str, ...], *, member_makes_id: bool
) -> None:
    """Refuse what makes no sense, whatever the state of the group; raises KafkaError.

    From version 1 on every member makes up its own id; before, one who joined had none.
    """
    if not request.member_id.strip() and (
        member_makes_id or request.epoch > JOIN_EPOCH or request.epoch == LEAVE_EPOCH
    ):
        raise _invalid("a member needs an id")
    if not request.group_id.strip():
        raise _invalid("a group needs a name")
    if request.instance_id is not None and not request.instance_id.strip():
        raise _invalid("an instance id may be left out, but not be empty")
    if request.rack_id is not None and not request.rack_id.strip():
        raise _invalid("a rack may be left out, but not be empty")
    if request.epoch == JOIN_EPOCH:
        if request.rebalance_timeout_ms == NOT_GIVEN:
            raise _invalid("a member that joins has to send its rebalance timeout")
        if request.owned is None or request.owned:
            raise _invalid("a member that joins cannot own partitions yet")
        if request.topics is None and request.regex is None:
            raise _invalid("a member that joins has to subscribe to topics or a regular expression")
    elif request.epoch == STATIC_LEAVE_EPOCH:
        if request.instance_id is None:
            raise _invalid("only a static member can leave for a while, and it has an instance id")
    elif request.epoch < STATIC_LEAVE_EPOCH:
        raise _invalid(f"there is no member epoch {request.epoch}")
    if request.assignor is not None and request.assignor not in assignors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"there is no assignor '{request.assignor}'; there are {', '.join(assignors)}",
        )


def _invalid(message: str) -> KafkaError:
    return KafkaError(ErrorCode.INVALID_REQUEST, message)
