"""Incremental fetch sessions: a consumer names its partitions once, then only what changed.

The broker remembers what each session fetches and what it last answered, and leaves out of an
answer the partitions in which nothing is new. That takes memory, so there are at most so many
sessions, of at most so many partitions; whoever comes when there is no room is served without one.
"""

from __future__ import annotations

from collections import OrderedDict
from itertools import takewhile
from random import SystemRandom
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.topics.topic_names import MAX_NAME_LENGTH
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater.protocol.fetch import FetchPartition, FetchRequest

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
MOST_PARTITIONS = 250_000
"""How many partitions all sessions have together: 112 MB, 187 MB with the longest names."""
KEPT_FOR_S = 120.0
"""A session that was opened more recently leaves for nobody, as in Kafka."""
_MAX_EPOCH = 0x7FFFFFFF
_WORTH_SHRINKING = 1_000
_random = SystemRandom()


class FetchKey(NamedTuple):
    """How a session names a partition: by topic name up to v12, by topic id from v13 on."""

    topic: str | bytes
    index: int  # type: ignore[assignment]  # hides tuple.index, which nobody misses


class Wanted:
    """What a session wants of one partition, and what it was last told about it."""

    __slots__ = ("high_watermark", "log_start_offset", "partition")

    def __init__(self, partition: FetchPartition) -> None:
        self.partition = partition
        self.high_watermark = -2
        self.log_start_offset = -2


class FetchSession:
    """The partitions of one consumer, in the order in which they are served."""

    __slots__ = ("_largest", "epoch", "id", "is_incremental", "opened_s", "used_s", "wanted")

    def __init__(self, session_id: int, epoch: int) -> None:
        self.id = session_id
        self.epoch = epoch
        self.wanted: OrderedDict[FetchKey, Wanted] = OrderedDict()
        self.is_incremental = False
        self.opened_s = self.used_s = 0.0
        self._largest = 0

    def update(self, request: FetchRequest) -> None:
        """Take over the partitions that a request adds, changes or forgets."""
        for key, partition in _partitions(request):
            known = self.wanted.get(key)
            if known is None:
                self.wanted[key] = Wanted(partition)
            else:
                known.partition = partition
        if not request.forgotten:
            return
        self._largest = max(self._largest, len(self.wanted))
        for topic in request.forgotten:
            name = topic.topic_id if topic.name is None else topic.name
            for index in topic.partitions:
                self.wanted.pop(FetchKey(name or b"", index), None)
        self._shrink()

    def served(self, key: FetchKey) -> None:
        """Move a partition that had data behind the others, so that none starves."""
        self.wanted.move_to_end(key)

    def _shrink(self) -> None:
        """Give back what a dictionary keeps of the partitions that it had once."""
        size = len(self.wanted)
        if self._largest > _WORTH_SHRINKING and size < self._largest // 4:
            self.wanted = OrderedDict(self.wanted)
            self._largest = size


class FetchSessionCache:
    """All sessions of the broker, at most so many, with at most so many partitions together.

    Who makes room is decided as in Kafka, only that there are no followers, which Kafka prefers:
    sessions that nobody has used for a while; for a session's place, also one that is smaller and
    not new. A session in use does not leave for another one's partitions, which are no more worth.
    """

    def __init__(
        self,
        slots: int,
        most_partitions: int = MOST_PARTITIONS,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._slots = slots
        self._most_partitions = most_partitions
        self._clock = clock
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()
        self.partition_count = 0
        """How many partitions all sessions have together."""
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def resolve(self, request: FetchRequest) -> FetchSession:
        """Return the session that a request opens, goes on with or does without."""
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._close(request.session_id)
            opens = request.session_epoch == INITIAL_EPOCH
            return self._open(request) if opens else _sessionless(request)
        session = self._sessions.get(request.session_id)
        if session is None:
            raise KafkaError(
                ErrorCode.FETCH_SESSION_ID_NOT_FOUND, "the fetch session is not known (any more)"
            )
        if session.epoch != request.session_epoch:
            raise KafkaError(
                ErrorCode.INVALID_FETCH_SESSION_EPOCH,
                f"the fetch session expects epoch {session.epoch}, not {request.session_epoch}",
            )
        if session.wanted and not _same_naming(session, request):
            raise KafkaError(
                ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
                "a fetch session can't change between topic names and topic ids",
            )
        self._go_on(session, request)
        return session

    def give_up(self, session: FetchSession) -> int:
        """Close a session whose first answer is empty, and return the id to answer with.

        A client takes such an answer for none at all and opens another session next time.
        """
        if session.is_incremental:
            return session.id
        self._close(session.id)
        return 0

    def _open(self, request: FetchRequest) -> FetchSession:
        session = _sessionless(request)
        size = len(session.wanted)
        if not size or not _may_be_topics(request) or not self._make_room(1, size, size):
            return session
        session.id = self._new_id()
        session.epoch = 1
        session.opened_s = session.used_s = self._clock()
        self._sessions[session.id] = session
        self.partition_count += size
        return session

    def _go_on(self, session: FetchSession, request: FetchRequest) -> None:
        self._sessions.move_to_end(session.id)
        session.used_s = self._clock()
        before = len(session.wanted)
        session.update(request)
        size = len(session.wanted)
        session.epoch = _next_epoch(session.epoch)
        session.is_incremental = True
        fits = _may_be_topics(request) and self._make_room(0, size - before, size)
        self.partition_count += size - before
        if not fits:
            # The client takes the id 0 for the end of its session and opens another one.
            self._close(session.id)
            session.id = 0

    def _close(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self.partition_count -= len(session.wanted)

    def _make_room(self, slots: int, partitions: int, size: int) -> bool:
        """Evict whom that takes for a session of this size, or nobody if it isn't enough."""
        slots += len(self._sessions) - self._slots
        partitions += self.partition_count - self._most_partitions
        if slots <= 0 and partitions <= 0:
            return True
        too_long_ago = self._clock() - KEPT_FOR_S
        leaving: list[FetchSession] = []
        for session in takewhile(lambda s: s.used_s < too_long_ago, self._sessions.values()):
            if slots <= 0 and partitions <= 0:
                break
            leaving.append(session)
            slots -= 1
            partitions -= len(session.wanted)
        if slots == 1:
            old = [s for s in self._sessions.values() if s.opened_s < too_long_ago <= s.used_s]
            smallest = min(old, key=lambda s: len(s.wanted), default=None)
            if smallest is not None and len(smallest.wanted) <= size:
                leaving.append(smallest)
                slots -= 1
                partitions -= len(smallest.wanted)
        if slots > 0 or partitions > 0:
            return False
        for session in leaving:
            self._close(session.id)
        self.evictions += len(leaving)
        return True

    def _new_id(self) -> int:
        while True:
            session_id = _random.randint(1, _MAX_EPOCH)
            if session_id not in self._sessions:
                return session_id


def _sessionless(request: FetchRequest) -> FetchSession:
    session = FetchSession(0, FINAL_EPOCH)
    session.update(request)
    return session


def _partitions(request: FetchRequest) -> Iterable[tuple[FetchKey, FetchPartition]]:
    for topic in request.topics:
        name = topic.topic_id if topic.name is None else topic.name
        for partition in topic.partitions:
            yield FetchKey(name or b"", partition.index), partition


def _may_be_topics(request: FetchRequest) -> bool:
    """Whether no name is longer than a topic's can be: a session would keep megabytes of it."""
    return all(
        topic.name is None or (len(topic.name) <= MAX_NAME_LENGTH and topic.name.isascii())
        for topic in request.topics
    )


def _same_naming(session: FetchSession, request: FetchRequest) -> bool:
    by_name = isinstance(next(iter(session.wanted)).topic, str)
    return all((topic.name is not None) == by_name for topic in request.topics)


def _next_epoch(epoch: int) -> int:
    return 1 if epoch == _MAX_EPOCH else epoch + 1
