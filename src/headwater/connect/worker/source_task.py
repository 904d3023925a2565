"""A source at work: rows and their offsets go to Kafka in the same transactions."""

from __future__ import annotations

import logging
import time
import uuid
from typing import TYPE_CHECKING, Any

from headwater.connect.converters.converter import converter_for
from headwater.connect.transforms.chain import read_chain
from headwater.connect.worker.progress import BatchCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import DataFrame, Observation, SparkSession

    from headwater.connect.connectors.connector import Source, SourceRows
    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.connector_spec import ConnectorSpec
    from headwater.connect.worker.offset_store import ConnectorOffsets
    from headwater.connect.worker.progress import Progress

logger = logging.getLogger("headwater.connect")

_RECORD = ("topic", "partition", "key", "value", "headers", "timestamp")
_OFFSETS = "topic STRING, key BINARY, value BINARY"
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
        self._chain = read_chain(spec.properties, of_source=True)
        self._key = converter_for(spec.key.class_name, spec.key.settings, is_key=True)
        self._value = converter_for(spec.value.class_name, spec.value.settings, is_key=False)
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

    def records(self, rows: SourceRows) -> DataFrame:
        """Return rows as they are written: transformed, and converted to bytes."""
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        from headwater.connect.worker.frames import FAILED, refusing_failed, transformed, whole

        steps, shape = self._chain.compile(rows.shape)
        frame = transformed(whole(rows.frame), steps)
        if not self._spec.tolerates_errors:
            frame = refusing_failed(frame, F.concat(F.lit("a record is refused: "), F.col(FAILED)))
        topics: list[str] = []
        if self._key.needs_topics or self._value.needs_topics:
            topics = [each.topic for each in frame.select("topic").distinct().collect()]
        return frame.withColumns(
            {
                "key": self._key.to_bytes(F.col("key"), shape.key, topics),
                "value": self._value.to_bytes(F.col("value"), shape.value, topics),
            }
        ).select(*_RECORD, FAILED)

    def _write(self, polled: Sequence[SourceRows]) -> None:
        from pyspark.sql import Observation
        from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

        from headwater.connect.worker.frames import FAILED

        session = self._start_session()
        groups: list[list[SourceRows]] = [[] for _ in range(min(len(polled), self._spec.tasks_max))]
        for number, rows in enumerate(polled):
            groups[number % len(groups)].append(rows)
        parts: list[DataFrame] = []
        read, written = [], []
        for group in groups:
            part: DataFrame | None = None
            for rows in group:
                before, after = Observation(), Observation()
                counted = _with(rows, rows.frame.observe(before, F.count(F.lit(1)).alias("n")))
                frame = self.records(counted).observe(
                    after,
                    F.count_if(F.col(FAILED).isNull()).alias("well"),
                    F.count_if(F.col(FAILED).isNotNull()).alias("failed"),
                    F.min(FAILED).alias("first"),
                    F.collect_set("topic").alias("topics"),
                )
                read.append(before)
                written.append(after)
                frame = frame.where(F.col(FAILED).isNull()).drop(FAILED)
                part = frame if part is None else part.unionByName(frame)
            assert part is not None
            # What follows the rows in their task is part of the task's transaction.
            kept = session.createDataFrame(self._offset_records(group), _OFFSETS)
            parts.append(part.unionByName(kept, allowMissingColumns=True).coalesce(1))
        together = parts[0]
        for part in parts[1:]:
            together = together.unionByName(part)
        self._save(session, together)
        for rows in polled:
            for partition, offset in rows.offsets:
                self._offsets.note(partition, offset)
        self._count(read, written)

    def _offset_records(self, group: Sequence[SourceRows]) -> list[tuple[str, Any, Any]]:
        topic = self._config.offsets.name
        pairs = [pair for rows in group for pair in rows.offsets]
        records = [self._offsets.record(partition, offset) for partition, offset in pairs]
        return [(topic, _bytes(key), _bytes(value)) for key, value in records]

    def _save(self, session: SparkSession, records: DataFrame) -> None:
        context = session.sparkContext
        for name, value in ((_QUERY, self._run), (_RUN, self._run), (_BATCH, str(self._batch))):
            context.setLocalProperty(name, value)
        options = {f"kafka.{name}": value for name, value in self._config.cluster.java().items()}
        options["queryId"] = self._config.sink_name(self._spec.name)
        try:
            records.write.format("headwater-kafka").mode("append").options(**options).save()
        finally:
            for name in (_QUERY, _RUN, _BATCH):
                context.setLocalProperty(name, None)  # type: ignore[arg-type] # takes it away
        self._batch += 1

    def _count(self, read: Sequence[Observation], written: Sequence[Observation]) -> None:
        rows = sum(_seen(each).get("n", 0) for each in read)
        seen = [_seen(each) for each in written]
        well, failed = (sum(each.get(name, 0) for each in seen) for name in ("well", "failed"))
        self._progress.add(BatchCounts(rows, well, failed))
        self._note_topics({topic for each in seen for topic in each.get("topics", ())})
        first = next((each["first"] for each in seen if each.get("first")), None)
        if failed and self._spec.common.boolean("errors.log.enable"):
            logger.error(
                "connector %s left out %d record(s), among them one that %s",
                self._spec.name, failed, first,
            )  # fmt: skip


def _with(rows: SourceRows, frame: DataFrame) -> SourceRows:
    from dataclasses import replace

    return replace(rows, frame=frame)


def _bytes(value: bytes | None) -> bytearray | None:
    return None if value is None else bytearray(value)


def _seen(observation: Observation) -> dict[str, Any]:
    """Return what was counted; nothing if Spark found a way to do without the count."""
    deadline = time.monotonic() + _COUNTED_WITHIN_S
    # `get` would wait for ever then.
    future = observation._jo.future()  # type: ignore[union-attr] # noqa: SLF001
    while not future.isCompleted():
        if time.monotonic() > deadline:
            return {}
        time.sleep(0.01)
    return observation.get
