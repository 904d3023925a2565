"""A world for groups in which time, the disk and the topics do only what a test says."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, cast

from headwater.broker.groups.environment import Environment, OnAppended, OnStored, Producer
from headwater.broker.groups.loading import load_shard
from headwater.broker.groups.offsets.requests import OffsetRequests
from headwater.broker.groups.settings import GroupSettings
from headwater.broker.groups.shard import GroupShard
from headwater.broker.groups.timers import Timers
from headwater.log.records.batch import parse_header
from headwater.log.records.record import Record, encode_batch
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from headwater.broker.groups.record_fields import CoordinatorRecord
    from headwater.log.log import Log
    from headwater.log.records.batch import BatchHeader

START_MS = 1_700_000_000_000


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now_ms = START_MS

    def __call__(self) -> int:
        return self.now_ms


class MemoryJournal:
    """Keeps records in a list; they are safe when the test says so, and may fail to be."""

    def __init__(self) -> None:
        self.records: list[CoordinatorRecord] = []
        self.producers: list[Producer | None] = []
        self.waiting: list[OnStored] = []
        self.is_full = False
        """Whether the disk refuses everything."""
        self.has_refused = False

    def append(
        self,
        records: Sequence[CoordinatorRecord],
        on_stored: OnStored,
        producer: Producer | None = None,
    ) -> int:
        if self.is_full:
            self.has_refused = True
            raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "the disk is full")
        assert records, "an empty batch cannot be appended"
        first = len(self.records)
        self.records += records
        self.producers += [producer] * len(records)
        self.waiting.append(on_stored)
        return first

    def enqueue(
        self,
        records: Sequence[CoordinatorRecord],
        on_appended: OnAppended,
        on_stored: OnStored,
    ) -> None:
        try:
            first = self.append(records, on_stored)
        except KafkaError as failure:
            code = failure.code
            self.waiting.append(lambda _: on_stored(code))
        else:
            on_appended(first)

    def when_stored(self, on_stored: OnStored) -> None:
        if self.waiting:
            self.waiting.append(on_stored)
        else:
            on_stored(ErrorCode.NONE)

    def store(self, code: ErrorCode = ErrorCode.NONE) -> None:
        """Bring to disk what was appended so far, or fail to."""
        waiting, self.waiting = self.waiting, []
        for on_stored in waiting:
            on_stored(code)


class MemoryTopics:
    """Topics by name, with as many partitions as the test gives them."""

    def __init__(self, **partitions: int) -> None:
        self.version = 0
        self.partitions: dict[str, int] = {}
        for name, number in partitions.items():
            self.set(name, number)

    def set(self, name: str, partitions: int | None) -> None:
        self.version += 1
        self.partitions.pop(name, None)
        if partitions is not None:
            self.partitions[name] = partitions

    def partition_count(self, name: str) -> int | None:
        return self.partitions.get(name)

    def id_of(self, name: str) -> bytes | None:
        return topic_id(name) if name in self.partitions else None

    def name_of(self, wanted: bytes) -> str | None:
        return next((name for name in self.partitions if topic_id(name) == wanted), None)

    def names(self) -> list[str]:
        return list(self.partitions)


class World:
    """One shard with everything around it."""

    def __init__(
        self, settings: GroupSettings | None = None, topics: MemoryTopics | None = None
    ) -> None:
        self.clock = Clock()
        self.journal = MemoryJournal()
        self.topics = topics or MemoryTopics(a=4, b=2)
        self.timers = Timers(self.clock, lambda at: None)
        self.settings = settings or GroupSettings(min_session_timeout_ms=1)
        self._ids = count(1)
        self.shard = self.new_shard()
        self.offsets = OffsetRequests(self.shard)

    def new_shard(self) -> GroupShard:
        """A second shard in the same world, to read into what the first has written."""
        return GroupShard(
            Environment(
                self.settings,
                self.timers,
                self.journal,
                self.topics,
                self.clock,
                lambda: f"id{next(self._ids)}",
            )
        )

    def reloaded(self) -> GroupShard:
        """A shard as the next start of the broker would read it from the log."""
        shard = self.new_shard()
        load_shard(shard, cast("Log", MemoryLog(self.journal)), self.clock.now_ms)
        return shard

    def settle(self) -> None:
        """Let everything that waits for the disk, or for no time at all, happen."""
        while self.journal.waiting or self._is_due():
            self.journal.store()
            self.timers.fire()

    def wait(self, ms: int) -> None:
        """Let time pass, and all that happens in it."""
        end = self.clock.now_ms + ms
        self.settle()
        while self.timers.next_at is not None and self.timers.next_at <= end:
            self.clock.now_ms = max(self.clock.now_ms, self.timers.next_at)
            self.timers.fire()
            self.settle()
        self.clock.now_ms = end

    def _is_due(self) -> bool:
        return self.timers.next_at is not None and self.timers.next_at <= self.clock.now_ms


class MemoryLog:
    """What a journal has taken, as the log that a shard is read from."""

    name = "__consumer_offsets-0"

    def __init__(self, journal: MemoryJournal) -> None:
        self._batches = [
            encode_batch(
                [Record(offset, START_MS, record.key, record.value)],
                producer_id=-1 if producer is None else producer.producer_id,
                producer_epoch=-1 if producer is None else producer.epoch,
                is_transactional=producer is not None,
            )
            for offset, (record, producer) in enumerate(
                zip(journal.records, journal.producers, strict=True)
            )
        ]

    def batches(self) -> Iterator[tuple[BatchHeader, memoryview]]:
        for batch in self._batches:
            yield parse_header(batch), memoryview(batch)


class Answers:
    """Collects the answers to a request: there must never be two."""

    def __init__(self) -> None:
        self.given: list[Any] = []

    def __call__(self, *result: Any) -> None:
        self.given.append(result[0] if len(result) == 1 else result)
        assert len(self.given) == 1, f"answered twice: {self.given}"

    @property
    def is_given(self) -> bool:
        return bool(self.given)

    @property
    def value(self) -> Any:
        assert self.given, "there is no answer yet"
        return self.given[0]


def ask(request: Callable[..., None], *arguments: Any) -> Answers:
    """Make a request and return what its answer will be in."""
    answers = Answers()
    request(*arguments, answers)
    return answers


def topic_id(name: str) -> bytes:
    return name.encode().ljust(16, b"-")
