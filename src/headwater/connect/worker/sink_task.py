"""A sink at work: ranges of topics are read as batches, and committed when they are written."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import BufferingSink, SinkBatch
from headwater.connect.transforms.application import FAILED
from headwater.connect.worker.dead_letters import DeadLetters
from headwater.connect.worker.progress import BatchCounts
from headwater.connect.worker.sink_records import INTERNAL, PUT, STAGE, START, SinkRecords

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyspark.sql import Column, DataFrame, SparkSession

    from headwater.connect.connectors.connector import RefusedRecord, Sink, TopicPartition
    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.connector_spec import ConnectorSpec
    from headwater.connect.worker.observed import Observed
    from headwater.connect.worker.progress import Progress
    from headwater.connect.worker.sink_group import SinkGroup

    Ranges = Mapping[TopicPartition, tuple[int, int]]

logger = logging.getLogger("headwater.connect")

_WAIT_S = 0.5
_LOOK_FOR_TOPICS_S = 5.0
# A batch is held by whoever writes it.
_MOST_RECORDS = 200_000
_COUNTED_WITHIN_S = 2.0


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
        self._partitions: list[TopicPartition] = []
        self._looked_at = 0.0

    def step(self) -> float:
        """Write what is new."""
        self._look_for_partitions()
        ends = self._group.ends(self._partitions)
        self._progress.lag = sum(max(0, ends[each] - self._positions[each]) for each in ends)
        by_topic: dict[str, dict[TopicPartition, tuple[int, int]]] = defaultdict(dict)
        for each, end in ends.items():
            start = self._positions[each]
            if start < end:
                by_topic[each.topic][each] = (start, min(end, start + _MOST_RECORDS))
        for topic, ranges in by_topic.items():
            self._write(topic, ranges)
        if not by_topic:
            self._commit({})
        return 0.0 if by_topic else _WAIT_S

    def close(self) -> None:
        """Close the sink."""
        try:
            self._sink.close()
        finally:
            self._group.close()

    def _write(self, topic: str, ranges: Ranges) -> None:
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        from headwater.connect.worker.frames import refusing_failed
        from headwater.connect.worker.observed import Observed

        self._note_topics([topic])
        observed = Observed()
        frame, shape = self._records.of(self._start_session(), topic, ranges, observed)
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
        positions = {each: end for each, (_, end) in ranges.items()}
        self._positions.update(positions)
        self._commit(positions)
        self._count(ranges, observed, failed, len(batch.refused))

    def _commit(self, read: Mapping[TopicPartition, int]) -> None:
        written = self._sink.written() if isinstance(self._sink, BufferingSink) else read
        if written:
            self._group.commit(written)

    def _count(self, ranges: Ranges, observed: Observed, failed: int, refused: int) -> None:
        offsets = sum(end - start for start, end in ranges.values())
        self._progress.lag = max(0, self._progress.lag - offsets)
        counts = observed.counts(_COUNTED_WITHIN_S)
        if counts is None:  # the sink had a way around it: every offset counts as a row
            counts = {"read": offsets, "written": offsets - failed, "failed": failed}
        written, failed = counts["written"] - refused, counts["failed"] + refused
        self._progress.add(BatchCounts(counts["read"], written, failed))

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
            self._positions[each] = position
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
