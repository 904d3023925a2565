"""A sink at work: ranges of topics are read as batches, and committed when they are written."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.connect.connectors.connector import ArrowSink, BufferingSink, SinkBatch
from headwater.connect.transforms.application import FAILED
from headwater.connect.worker.dead_letters import DeadLetters
from headwater.connect.worker.progress import BatchCounts
from headwater.connect.worker.sink_ranges import BatchSize, SinkRanges
from headwater.connect.worker.sink_records import (
    INTERNAL,
    PUT,
    SIZE,
    STAGE,
    START,
    SinkRecords,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Future

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

    from headwater.connect.connectors.connector import RefusedRecord, Sink, TopicPartition
    from headwater.connect.data.shape import Shape
    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.connector_spec import ConnectorSpec
    from headwater.connect.worker.observed import Observed
    from headwater.connect.worker.progress import Progress
    from headwater.connect.worker.sink_group import SinkGroup

    Ranges = Mapping[TopicPartition, tuple[int, int]]

logger = logging.getLogger("headwater.connect")

_WAIT_S = 0.5
_LOOK_FOR_TOPICS_S = 5.0
# Each is read by one task if a topic has one partition: two keep two cores busy.
_READ_AT_ONCE = 2
_COUNTED_WITHIN_S = 2.0


class _Read(NamedTuple):
    """A batch whose rows are in this process; None where all of it was written before."""

    batch: SinkBatch
    observed: Observed
    rows: pa.Table | None


class SinkTask:
    """Hands a sink what its topics have, topic by topic."""

    def __init__(
        self,
        spec: ConnectorSpec,
        config: WorkerConfig,
        sink: Sink,
        group: SinkGroup,
        start_session: Callable[[], SparkSession],
        progress: Progress,
        note_topics: Callable[[Iterable[str]], None],
    ) -> None:
        self._spec = spec
        self._sink = sink
        self._group = group
        self._start_session = start_session
        self._progress = progress
        self._note_topics = note_topics
        self._records = SinkRecords(spec, config)
        self._dead_letters = DeadLetters(spec, config)
        self._positions: dict[TopicPartition, int] = {}
        self._ranges = SinkRanges()
        self._size = BatchSize()
        # What has failed is to be set apart before anything is written.
        self._reads_ahead = isinstance(sink, ArrowSink) and not spec.tolerates_errors
        self._ahead: deque[Future[_Read]] = deque()
        self._readers = ThreadPoolExecutor(_READ_AT_ONCE, f"connect-{spec.name}-reader")
        self._planning = threading.Lock()
        self._partitions: list[TopicPartition] = []
        self._looked_at = 0.0

    def step(self) -> float:
        """Write what is new: a batch of one topic."""
        self._look_for_partitions()
        ends = self._group.ends(self._partitions)
        self._progress.lag = sum(max(0, ends[each] - self._positions[each]) for each in ends)
        has_news = self._write_ahead(ends) if self._reads_ahead else self._write_next(ends)
        if not has_news:
            self._commit({})
        return 0.0 if has_news else _WAIT_S

    def close(self) -> None:
        """Close the sink."""
        try:
            self._readers.shutdown(cancel_futures=True)
            self._sink.close()
        finally:
            self._group.close()

    def _write_ahead(self, ends: Mapping[TopicPartition, int]) -> bool:
        """Write a batch that was read, while the next ones are."""
        assert isinstance(self._sink, ArrowSink)
        self._read_ahead(ends)
        if not self._ahead:
            return False
        read = self._ahead.popleft().result()
        # Without rows there was no job, and nothing was counted.
        counts = None if read.rows is None else read.observed.counts(_COUNTED_WITHIN_S)
        self._learn(counts)
        self._read_ahead(ends)
        self._sink.write_rows(read.batch, read.rows)
        self._written(read.batch, counts, failed=0)
        return True

    def _read_ahead(self, ends: Mapping[TopicPartition, int]) -> None:
        most = _READ_AT_ONCE if self._size.is_learnt else 1
        while len(self._ahead) < most:
            ranges = self._ranges.take(ends, self._size.records)
            if not ranges:
                return
            self._ahead.append(self._readers.submit(self._read, ranges))

    def _read(self, ranges: Ranges) -> _Read:
        from headwater.connect.worker.frames import refusing_failed

        assert isinstance(self._sink, ArrowSink)
        with self._planning:
            frame, shape, observed = self._records_of(ranges)
            rows = refusing_failed(frame, _refusal()).drop(*INTERNAL)
            batch = SinkBatch(rows, shape, ranges)
            columns = self._sink.columns(batch)
        return _Read(batch, observed, None if columns is None else columns.toArrow())

    def _write_next(self, ends: Mapping[TopicPartition, int]) -> bool:
        """Let the sink read and write a batch."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        from headwater.connect.worker.frames import refusing_failed

        ranges = self._ranges.take(ends, self._size.records)
        if not ranges:
            return False
        frame, shape, observed = self._records_of(ranges)
        kept: DataFrame | None = None
        failed = 0
        if self._spec.tolerates_errors:
            kept = frame = frame.persist()
            failed = self._dead_letters.take(frame.where(F.col(FAILED).isNotNull()))
            frame = frame.where(F.col(FAILED).isNull())
        else:
            frame = refusing_failed(frame, _refusal())
        batch = SinkBatch(frame.drop(*INTERNAL), shape, ranges)
        try:
            self._sink.write(batch)
            if kept is not None and batch.refused:
                self._dead_letters.take(_letters(kept, batch.refused))
        finally:
            if kept is not None:
                kept.unpersist()
        counts = observed.counts(_COUNTED_WITHIN_S)
        self._learn(counts)
        self._written(batch, counts, failed)
        return True

    def _records_of(self, ranges: Ranges) -> tuple[DataFrame, Shape, Observed]:
        from headwater.connect.worker.observed import Observed

        (topic,) = {each.topic for each in ranges}
        self._note_topics([topic])
        observed = Observed()
        return *self._records.of(self._start_session(), topic, ranges, observed), observed

    def _learn(self, counts: Mapping[str, Any] | None) -> None:
        if counts is not None:
            self._size.learn(counts["read"], counts[SIZE] or 0)

    def _written(self, batch: SinkBatch, counts: Mapping[str, Any] | None, failed: int) -> None:
        positions = {each: end for each, (_, end) in batch.ranges.items()}
        self._positions.update(positions)
        self._commit(positions)
        offsets = sum(end - start for start, end in batch.ranges.values())
        self._progress.lag = max(0, self._progress.lag - offsets)
        if counts is None:  # the sink had a way around it: every offset counts as a row
            counts = {"read": offsets, "written": offsets - failed, "failed": failed}
        refused = len(batch.refused)
        written, failed = counts["written"] - refused, counts["failed"] + refused
        self._progress.add(BatchCounts(counts["read"], written, failed))

    def _commit(self, read: Mapping[TopicPartition, int]) -> None:
        written = self._sink.written() if isinstance(self._sink, BufferingSink) else read
        if written:
            self._group.commit(written)

    def _look_for_partitions(self) -> None:
        now = time.monotonic()
        if self._partitions and now - self._looked_at < _LOOK_FOR_TOPICS_S:
            return
        self._looked_at = now
        common = self._spec.common
        found = self._group.partitions(common.words("topics"), common.text("topics.regex") or "")
        new = [each for each in found if each not in self._positions]
        if new:
            self._begin_with(new)
        self._partitions = found

    def _begin_with(self, partitions: list[TopicPartition]) -> None:
        committed = self._group.committed(partitions)
        starts, ends = self._group.starts(partitions), self._group.ends(partitions)
        begin = ends if self._spec.overrides("consumer").get(START) == "latest" else starts
        moved: dict[TopicPartition, int] = {}
        for each in partitions:
            position, was_set = committed.get(each, (-1, False))
            if not starts[each] <= position <= ends[each]:
                if position >= 0:
                    logger.warning(
                        "connector %s: %s [%d] has no offset %d any more, going on at %d",
                        self._spec.name, each.topic, each.partition, position, begin[each],
                    )  # fmt: skip
                position, was_set = begin[each], True
            self._positions[each] = self._ranges.positions[each] = position
            if was_set:
                moved[each] = position
        if moved:
            self._sink.moved_to(moved)
            self._group.commit(moved)


def _letters(frame: DataFrame, refused: Sequence[RefusedRecord]) -> DataFrame:
    """Return the records that a sink's target has refused, with its reasons."""
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    place = ["_topic", "_partition", "_offset"]
    schema = "_topic STRING, _partition INT, _offset BIGINT, _reason STRING"
    told = frame.sparkSession.createDataFrame(list(refused), schema)
    of = frame.join(F.broadcast(told), place)
    return of.withColumns({FAILED: F.col("_reason"), STAGE: F.lit(PUT)}).drop("_reason")


def _refusal() -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    return F.concat(
        F.lit("the record at "), F.col("_topic"), F.lit(" ["), F.col("_partition"),
        F.lit("] offset "), F.col("_offset"), F.lit(" is refused: "), F.col(FAILED),
        F.lit("; with errors.tolerance=all such records are left out"),
    )  # fmt: skip
