"""A user's processor as Spark calls it: with the rows of a key, and with timers that have fired."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from headwater.plan.expressions.python_function import instance_of, plain
from headwater.plan.processing.fold import Fold
from headwater.plan.processing.processor import ProcessorContext, PunctuationType, Record
from headwater.plan.processing.processor_group import ProcessorGroup
from headwater.spark.processors.clock import StreamClock, WallClock
from headwater.spark.processors.shipping import packed, unpacked
from headwater.spark.processors.stores import STORES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql.streaming.stateful_processor import (
        ExpiredTimerInfo,
        StatefulProcessorHandle,
        TimerValues,
    )

    from headwater.plan.processing.processor import Processor, StateStore
    from headwater.spark.processors.stores import Store

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_CLOCKS = {PunctuationType.STREAM_TIME: StreamClock, PunctuationType.WALL_CLOCK_TIME: WallClock}


@dataclass(frozen=True)
class Supplied:
    """What of a plan's node goes to where its processor runs."""

    supplier: Callable[[], Processor]
    stores: tuple[StateStore, ...]
    keeps_key: bool
    key_class: type | None
    value_class: type | None
    punctuation_type: PunctuationType


class SparkProcessor(StatefulProcessor):
    """Calls the user's processor record by record."""

    def __init__(self, supplied: Supplied) -> None:
        supplier = supplied.supplier
        suppliers: tuple[Any, ...] = (supplier,)
        if isinstance(supplier, ProcessorGroup | Fold):
            suppliers = supplier.classes
        classes = *suppliers, supplied.key_class, supplied.value_class
        self._packed = packed(supplied, *classes)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Make the processor, and its stores."""
        self._supplied: Supplied = unpacked(self._packed)
        self._context = SparkContext(self._supplied, handle)
        self._processor = self._supplied.supplier()
        self._processor.init(self._context)

    def handleInputRows(  # noqa: N802 - Spark's name
        self,
        key: Any,
        rows: Iterator[Any],
        timerValues: TimerValues,  # noqa: N803 - Spark's name
    ) -> Iterator[Any]:
        """Take what a batch has of a key, in the order in which it arrived."""
        context, supplied = self._context, self._supplied
        watermark_ms = timerValues.getCurrentWatermarkInMs()
        for row in in_arrival_order(each["row"] for each in rows):
            headers = tuple((each["key"], each["value"]) for each in row["headers"] or ())
            at = _EPOCH + row["timestamp"] * _MICROSECOND
            record = Record(
                instance_of(supplied.key_class, key[0]),
                instance_of(supplied.value_class, row["value"]),
                at,
                headers,
            )
            context.begin(key[0], at, row["headers"], watermark_ms, row["system_ms"])
            self._processor.process(record)
            yield from context.forwarded()

    def handleExpiredTimer(  # noqa: N802 - Spark's name
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803 - Spark's name
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803 - Spark's name
    ) -> Iterator[Any]:
        """Let stores forget, and give the user's own timers on."""
        fired_ms = expiredTimerInfo.getExpiryTimeInMs()
        at = _EPOCH + timedelta(milliseconds=fired_ms)
        own = key[0].asDict(recursive=True) if isinstance(key[0], Row) else key[0]
        context = self._context
        watermark_ms = timerValues.getCurrentWatermarkInMs()
        # By the wall clock, the watermark is that.
        context.begin(own, at, [], watermark_ms, watermark_ms)
        context.purge()
        if context.clock.take(fired_ms):
            self._processor.punctuate(instance_of(self._supplied.key_class, own), at)
        yield from context.forwarded()

    def close(self) -> None:
        """End the processor."""
        self._processor.close()


class SparkContext(ProcessorContext):
    """What the user's processor sees of Spark."""

    def __init__(self, supplied: Supplied, handle: StatefulProcessorHandle) -> None:
        self._supplied = supplied
        lives = [store for store in supplied.stores if store.ttl_ms is not None]
        self.clock = _CLOCKS[supplied.punctuation_type](handle, shared=bool(lives))
        self._stores: dict[str, Store] = {
            store.name: STORES[store.kind](store, handle, self.clock) for store in supplied.stores
        }
        self._mortal = [self._stores[store.name] for store in lives]
        self._rows: list[Row] = []

    def begin(
        self, key: Any, at: datetime, headers: Any, watermark_ms: int, system_ms: int
    ) -> None:
        """Turn to a record, or to a timer."""
        self._key, self._at, self._headers = key, at, headers
        at_ms = (at - _EPOCH) // timedelta(milliseconds=1)
        self.clock.turn_to(at_ms, watermark_ms, system_ms)

    def purge(self) -> None:
        """Let stores forget what has outlived its time."""
        for store in self._mortal:
            store.purge()

    def forwarded(self) -> list[Row]:
        """Return what was sent on since the last time, and when timers are due that were set."""
        rows, self._rows = self._rows, []
        for alarm in self.clock.alarms():
            rows.append(Row(key=None, value=None, headers=None, timestamp=None, wakes_at=alarm))
        return rows

    def value_store(self, name: str, type_: Any, *, ttl: Any = None) -> Any:
        """Return the store of this name."""
        del type_, ttl
        return self._asked(name)

    def list_store(self, name: str, type_: Any, *, ttl: Any = None) -> Any:
        """Return the store of this name."""
        del type_, ttl
        return self._asked(name)

    def map_store(self, name: str, key: Any, value: Any, *, ttl: Any = None) -> Any:
        """Return the store of this name."""
        del key, value, ttl
        return self._asked(name)

    def state_store(self, name: str) -> Any:
        """Return the store of this name."""
        return self._asked(name)

    def forward(self, value: Any, *, key: Any = ..., timestamp: datetime | None = None) -> None:
        """Send a record on."""
        if key is not ... and self._supplied.keeps_key:
            raise ValueError("transform_values keeps keys: forward with another key in process()")
        at = self._at if timestamp is None else timestamp
        self._rows.append(
            Row(
                key=self._key if key is ... else plain(key),
                value=plain(value),
                headers=self._headers,
                timestamp=(at - _EPOCH) // _MICROSECOND,
                wakes_at=None,
            )
        )

    def schedule(self, at: datetime) -> None:
        """Set a timer for the key at hand."""
        self.clock.schedule((at - _EPOCH) // timedelta(milliseconds=1))

    @property
    def stream_time(self) -> datetime:
        """The latest time that is known, or that of the record at hand."""
        if self._supplied.punctuation_type is PunctuationType.WALL_CLOCK_TIME:
            return self._at
        return _EPOCH + timedelta(milliseconds=self.clock.now_ms)

    @property
    def system_time(self) -> datetime:
        """The time of the batch at hand."""
        if self._supplied.punctuation_type is not PunctuationType.WALL_CLOCK_TIME:
            raise ValueError(
                "a processor whose timers go by stream time would do something else over the same "
                "records if it knew the clock: set punctuation_type = "
                "PunctuationType.WALL_CLOCK_TIME in its class"
            )
        return _EPOCH + timedelta(milliseconds=self.clock.now_ms)

    def _asked(self, name: str) -> Store:
        if name not in self._stores:
            raise ValueError(f"init asked for no store {name!r} when the program was built")
        return self._stores[name]


def in_arrival_order(rows: Iterable[Any]) -> list[Any]:
    """Put the rows of a key in order: queues are not reordered, that with the oldest is next."""
    queues: dict[int, list[Any]] = {}
    for row in rows:
        queues.setdefault(row["source"], []).append(row)
    for queue in queues.values():
        queue.sort(key=lambda row: (row["offset"], row["input"]), reverse=True)
    heads = [(queue[-1]["time"], source) for source, queue in queues.items()]
    heapq.heapify(heads)
    found = []
    while heads:
        _, source = heads[0]
        queue = queues[source]
        found.append(queue.pop())
        if queue:
            heapq.heapreplace(heads, (queue[-1]["time"], source))
        else:
            heapq.heappop(heads)
    return found
