"""A source at work: rows and their offsets go to Kafka in the same transactions."""

from __future__ import annotations

import json
import logging
import uuid
from typing import TYPE_CHECKING

from headwater.connect.transforms.application import FAILED
from headwater.connect.worker.progress import BatchCounts
from headwater.connect.worker.source_records import SourceRecords
from headwater.connect.worker.topic_creation import TopicCreation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame, SparkSession

    from headwater.connect.connectors.connector import Source, SourceRows
    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.connector_spec import ConnectorSpec
    from headwater.connect.worker.observed import Observed
    from headwater.connect.worker.offset_store import ConnectorOffsets
    from headwater.connect.worker.progress import Progress

logger = logging.getLogger("headwater.connect")

# What the sink takes for the identity of a query, its run and its batch; see jvm/sink.
_QUERY, _RUN, _BATCH = "sql.streaming.queryId", "spark.jobGroup.id", "streaming.sql.batchId"
_COUNTED_WITHIN_S = 10.0


class SourceTask:
    """Polls a source, and writes what it returns.

    One Spark task writes the rows of a frame and the offsets after them in one transaction.
    """

    def __init__(
        self,
        spec: ConnectorSpec,
        config: WorkerConfig,
        source: Source,
        offsets: ConnectorOffsets,
        start_session: Callable[[], SparkSession],
        progress: Progress,
        note_topics: Callable[[Iterable[str]], None],
    ) -> None:
        self._spec = spec
        self._config = config
        self._source = source
        self._offsets = offsets
        self._start_session = start_session
        self._progress = progress
        self._note_topics = note_topics
        self._records = SourceRecords(spec)
        self._topics = TopicCreation(spec.properties, config.client("topics"))
        self._run = str(uuid.uuid4())
        self._batch = 0

    def step(self) -> float:
        """Write what is new."""
        polled = self._source.poll()
        if polled:
            self._write(polled)
            self._source.committed()
        return self._source.next_poll_s()

    def close(self) -> None:
        """Close the source."""
        self._source.close()

    def _write(self, polled: Sequence[SourceRows]) -> None:
        from headwater.connect.worker.frames import well
        from headwater.connect.worker.observed import Observed

        session = self._start_session()
        self._make_topics(polled)
        groups = _shared_out(polled, self._spec.tasks_max)
        observed: list[tuple[Observed, frozenset[str]]] = []
        parts: list[DataFrame] = []
        for group in groups:
            frames: list[DataFrame] = []
            for rows in group:
                counted = Observed()
                topics = self._records.known_topics(rows)
                records = self._records.of(rows, counted)
                frames.append(well(counted.after(records, *_noted(with_topics=topics is None))))
                observed.append((counted, topics or frozenset()))
            # What follows the rows in their task is part of the task's transaction.
            kept = session.createDataFrame(self._offset_records(group))
            part = _one_after_another(frames).unionByName(kept, allowMissingColumns=True)
            parts.append(part.coalesce(1))
        self._save(session, _one_after_another(parts))
        for rows in polled:
            for partition, offset in rows.offsets:
                self._offsets.note(partition, offset)
        for counted, topics in observed:
            self._count(counted, topics)

    def _make_topics(self, polled: Sequence[SourceRows]) -> None:
        from headwater.connect.worker.frames import well

        if not self._topics.is_wanted:
            return
        wanted: set[str] = set()
        others: list[DataFrame] = []
        for rows in polled:
            topics = self._records.known_topics(rows)
            if topics is None:  # which are meant is known when the rows were transformed
                others.append(well(self._records.of(rows)).select("topic"))
            else:
                wanted |= topics
        if others:
            found = _one_after_another(others).distinct().collect()
            wanted.update(row.topic for row in found)
        self._topics.make(wanted)

    def _offset_records(self, group: Sequence[SourceRows]) -> pa.Table:
        import pyarrow as pa

        pairs = [pair for rows in group for pair in rows.offsets]
        records = dict(self._offsets.record(partition, offset) for partition, offset in pairs)
        # As Arrow: rows of Python's would be made by a Python process of Spark's.
        return pa.table(
            {
                "topic": pa.repeat(self._config.offsets.name, len(records)),
                "key": pa.array(records.keys(), pa.binary()),
                "value": pa.array(records.values(), pa.binary()),
            }
        )

    def _save(self, session: SparkSession, records: DataFrame) -> None:
        context = session.sparkContext
        for name, value in ((_QUERY, self._run), (_RUN, self._run), (_BATCH, str(self._batch))):
            context.setLocalProperty(name, value)
        client = {**self._config.cluster.java(), **self._spec.overrides("producer")}
        options = {f"kafka.{name}": value for name, value in client.items()}
        options["queryId"] = self._config.sink_name(self._spec.name)
        try:
            records.write.format("headwater-kafka").mode("append").options(**options).save()
        finally:
            for name in (_QUERY, _RUN, _BATCH):
                context.setLocalProperty(name, None)  # type: ignore[arg-type] # takes it away
        self._batch += 1

    def _count(self, observed: Observed, topics: frozenset[str]) -> None:
        counts = observed.counts(_COUNTED_WITHIN_S) or {}
        failed = counts.get("failed", 0)
        self._progress.add(BatchCounts(counts.get("read", 0), counts.get("written", 0), failed))
        self._note_topics(counts.get("topics", topics))
        if failed and self._spec.common.boolean("errors.log.enable"):
            logger.error(
                "connector %s left out %d record(s), one of them since %s",
                self._spec.name, failed, counts["first_failure"],
            )  # fmt: skip


def _noted(*, with_topics: bool) -> tuple[Column, ...]:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    first_failure = F.min(FAILED).alias("first_failure")
    topics = F.collect_set("topic").alias("topics")
    return (first_failure, topics) if with_topics else (first_failure,)


def _shared_out(polled: Sequence[SourceRows], tasks: int) -> list[list[SourceRows]]:
    """Return what each task writes: all rows of a source partition are one task's."""
    together: dict[str, list[SourceRows]] = {}
    for number, rows in enumerate(polled):
        of = json.dumps([partition for partition, _ in rows.offsets] or number, sort_keys=True)
        together.setdefault(of, []).append(rows)
    groups: list[list[SourceRows]] = [[] for _ in range(min(len(together), tasks))]
    for number, alike in enumerate(together.values()):
        groups[number % len(groups)] += alike
    return groups


def _one_after_another(frames: Sequence[DataFrame]) -> DataFrame:
    together = frames[0]
    for frame in frames[1:]:
        together = together.unionByName(frame)
    return together
