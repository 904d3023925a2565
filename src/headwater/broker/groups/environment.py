"""What groups need of the world around them; the real thing is in `coordinator`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from headwater.broker.groups.record_fields import CoordinatorRecord
    from headwater.broker.groups.settings import GroupSettings
    from headwater.broker.groups.timers import Timers

OnStored = Callable[[ErrorCode], None]
"""Called once what was appended is as safe as the broker's durability mode asks, or is lost."""

OnAppended = Callable[[int], None]
"""Called with the offset of the first record, once the records have their place in the log."""


class Producer(NamedTuple):
    """The transactional producer on whose behalf records are appended."""

    producer_id: int
    epoch: int


class Journal(Protocol):
    """The partition of `__consumer_offsets` that a shard writes to."""

    def append(
        self,
        records: Sequence[CoordinatorRecord],
        on_stored: OnStored,
        producer: Producer | None = None,
    ) -> int:
        """Append at once and return the first offset; raises KafkaError if it cannot be done.

        `on_stored` is never called before this returns.
        """

    def enqueue(
        self,
        records: Sequence[CoordinatorRecord],
        on_appended: OnAppended,
        on_stored: OnStored,
    ) -> None:
        """Append soon, together with what else comes meanwhile, and before any later `append`.

        A failure is told to `on_stored`, and then `on_appended` is not called.
        """

    def when_stored(self, on_stored: OnStored) -> None:
        """Call back when all that was appended so far is safe; at once if it is already."""


class Topics(Protocol):
    """The broker's topics, as far as groups care."""

    @property
    def version(self) -> int:
        """A number that changes whenever a topic or its number of partitions does."""

    def partition_count(self, name: str) -> int | None:
        """Return how many partitions a topic has; None if there is no such topic."""

    def id_of(self, name: str) -> bytes | None:
        """Return a topic's id; None if there is no such topic."""

    def name_of(self, topic_id: bytes) -> str | None:
        """Return a topic's name; None if there is no such topic."""

    def names(self) -> Iterable[str]:
        """Return the names of all topics."""


@dataclass(frozen=True)
class Environment:
    """All of it in one place."""

    settings: GroupSettings
    timers: Timers
    journal: Journal
    topics: Topics
    now_ms: Callable[[], int]
    """The wall clock, for timestamps; timeouts go by the clock of `timers`."""
    new_id: Callable[[], str]
    """A name that nobody else has."""


def group_error(code: ErrorCode) -> ErrorCode:
    """What a member is told when its group could not be stored."""
    return _GROUP_ERRORS.get(code, code)


def commit_error(code: ErrorCode) -> ErrorCode:
    """What a member is told when its commit could not be stored."""
    return _COMMIT_ERRORS.get(code, code)


# A member that is told NOT_COORDINATOR looks for the coordinator and tries again: the disk may
# have room by then. What is too large stays so.
_GROUP_ERRORS = {
    ErrorCode.KAFKA_STORAGE_ERROR: ErrorCode.NOT_COORDINATOR,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.UNKNOWN_SERVER_ERROR,
}

_COMMIT_ERRORS = _GROUP_ERRORS | {
    ErrorCode.MESSAGE_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
    ErrorCode.RECORD_LIST_TOO_LARGE: ErrorCode.INVALID_COMMIT_OFFSET_SIZE,
}
