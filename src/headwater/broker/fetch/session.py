"""Incremental fetch sessions: a consumer names its partitions once, then only what changed.

The broker remembers what each session fetches and what it last answered, and leaves out of an
answer the partitions in which nothing is new.
"""

from __future__ import annotations

from collections import OrderedDict
from random import SystemRandom
from typing import TYPE_CHECKING, NamedTuple

from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.protocol.fetch import FetchPartition, FetchRequest

INITIAL_EPOCH = 0
FINAL_EPOCH = -1
_MAX_EPOCH = 0x7FFFFFFF
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

    __slots__ = ("epoch", "id", "is_incremental", "wanted")

    def __init__(self, session_id: int, epoch: int) -> None:
        self.id = session_id
        self.epoch = epoch
        self.wanted: OrderedDict[FetchKey, Wanted] = OrderedDict()
        self.is_incremental = False

    def update(self, request: FetchRequest) -> None:
        """Take over the partitions that a request adds, changes or forgets."""
        for key, partition in _partitions(request):
            known = self.wanted.get(key)
            if known is None:
                self.wanted[key] = Wanted(partition)
            else:
                known.partition = partition
        for topic in request.forgotten:
            name = topic.topic_id if topic.name is None else topic.name
            for index in topic.partitions:
                self.wanted.pop(FetchKey(name or b"", index), None)

    def served(self, key: FetchKey) -> None:
        """Move a partition that had data behind the others, so that none starves."""
        self.wanted.move_to_end(key)


class FetchSessionCache:
    """All sessions of the broker, at most so many, the longest unused evicted first."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._sessions: OrderedDict[int, FetchSession] = OrderedDict()
        self.evictions = 0

    def __len__(self) -> int:
        return len(self._sessions)

    @property
    def partition_count(self) -> int:
        """How many partitions all sessions have together."""
        return sum(len(session.wanted) for session in self._sessions.values())

    def resolve(self, request: FetchRequest) -> FetchSession:
        """Return the session that a request opens, goes on with or does without."""
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(request.session_id, None)
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
        self._sessions.move_to_end(session.id)
        session.update(request)
        session.epoch = _next_epoch(session.epoch)
        session.is_incremental = True
        return session

    def give_up(self, session: FetchSession) -> int:
        """Close a session whose first answer is empty, and return the id to answer with.

        A client takes such an answer for none at all and opens another session next time.
        """
        if session.is_incremental:
            return session.id
        self._sessions.pop(session.id, None)
        return 0

    def _open(self, request: FetchRequest) -> FetchSession:
        session = _sessionless(request)
        if not session.wanted or self._slots <= 0:
            return session
        while len(self._sessions) >= self._slots:
            self._sessions.popitem(last=False)
            self.evictions += 1
        session.id = self._new_id()
        session.epoch = 1
        self._sessions[session.id] = session
        return session

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


def _same_naming(session: FetchSession, request: FetchRequest) -> bool:
    by_name = isinstance(next(iter(session.wanted)).topic, str)
    return all((topic.name is not None) == by_name for topic in request.topics)


def _next_epoch(epoch: int) -> int:
    return 1 if epoch == _MAX_EPOCH else epoch + 1
