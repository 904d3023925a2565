"""A stage of a program in a test: its queries run on, and are told when there are records."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.nodes import TopicSink
from headwater.spark.compiler.nodes import NodeCompiler
from headwater.spark.compiler.stages import compile_stage
from headwater.spark.formats.schemas import Schemas
from headwater.spark.jobs.failures import failure_of
from headwater.spark.jobs.writers import Writers
from headwater.spark.topics import WallClockTime
from headwater.testing.topology_failed import TopologyFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from headwater.plan.nodes import TopicSource
    from headwater.plan.splitting.stages import Stage
    from headwater.spark.compiler.stages import StageQuery
    from headwater.testing.given_record import GivenRecord

_DONE_WITHIN_S = 600
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
# No topic has this name.
_CLOCK = "(clock)"
# A test's batches are tiny, so that one partition is the fastest.
_SETTINGS = {"spark.sql.shuffle.partitions": "1"}


def session_of_tests(spark: SparkSession) -> SparkSession:
    """Return a session like this one, with settings of its own that suit a few records."""
    known: Any = spark
    java = known._jsparkSession.cloneSession()  # noqa: SLF001 - PySpark's way to the JVM
    session = SparkSession(spark.sparkContext, java)
    for name, value in _SETTINGS.items():
        session.conf.set(name, value)
    return session


class StageRun:
    """The queries of a stage, which start with the first records and run until they are closed."""

    def __init__(
        self,
        spark: SparkSession,
        stage: Stage,
        checkpoints: Path,
        now: datetime,
        take: Callable[[DataFrame, Stage], None],
    ) -> None:
        self.stage = stage
        self.topics = {topic for source in stage.topic_sources for topic in source.topics}
        """Those that it reads."""
        self._spark = spark
        self._checkpoints = checkpoints
        self._take = take
        self._has_own_clock = any(node.has_own_clock for node in stage.stateful)
        self._id = uuid.uuid4().hex
        self._jvm: Any = _jvm(spark).io.headwater.testing.GivenRecords
        self._given = self._jvm.make(self._id)
        self._given.setNow(_micros(now))
        self._queries: tuple[StageQuery, ...] | None = None
        self._running: dict[str, StreamingQuery] = {}
        self._has_news = False
        self._cause: Exception | None = None

    def give(self, records: Sequence[GivenRecord]) -> None:
        """Add records, which are processed with the next run."""
        for record in records:
            names = [name for name, _ in record.headers]
            values = [value for _, value in record.headers]
            place = record.topic, record.offset
            at = _micros(record.timestamp)
            self._given.add(*place, record.key, record.value, at, names, values)
            self._has_news = True

    def set_clock(self, now: datetime) -> None:
        """Move the clock on the wall, and let timers fire."""
        self._given.setNow(_micros(now))
        if self._has_own_clock:
            self._given.add(_CLOCK, 0, None, None, _micros(now), [], [])
            self._has_news = True
            self.run()

    def run(self) -> None:
        """Process what was added since the last run, as one batch of each query."""
        if not self._has_news:
            return
        if self._queries is None:
            reader = _GivenReader(self._spark, self._id)
            compiler = NodeCompiler(self._spark, reader, Schemas(None))
            self._queries = compile_stage(self.stage, compiler)
        for query in self._queries:
            self._run_query(query)
        self._has_news = False

    def close(self) -> None:
        """Stop the queries."""
        for running in self._running.values():
            running.stop()
        self._jvm.forget(self._id)

    def _run_query(self, query: StageQuery) -> None:
        self._given.release(query.name)
        running = self._running.get(query.name)
        try:
            if running is None or not running.isActive:
                running = self._running[query.name] = self._started(query)
            known: Any = running
            is_done = self._jvm.awaitDone(known._jsq, _DONE_WITHIN_S * 1000)  # noqa: SLF001
            if not running.isActive:
                running.awaitTermination()
        except StreamingQueryException as error:
            # What a user wants to know is the cause, and not Spark's page of Java around it.
            cause, self._cause = self._cause or error, None
            raise TopologyFailed(f"{query.name}: {failure_of(cause).reason}") from None
        if not is_done:
            running.stop()
            raise TimeoutError(f"{query.name} was not done within {_DONE_WITHIN_S} s")

    def _started(self, query: StageQuery) -> StreamingQuery:
        checkpoint = self._checkpoints / query.name
        if not isinstance(query.sink, TopicSink):
            settings = self.stage.plan.settings
            return Writers("test", settings).start(query, checkpoint, "running")
        return (
            query.rows.writeStream.foreachBatch(lambda rows, _: self._taking(rows))
            .outputMode(query.mode)
            .option("checkpointLocation", str(checkpoint))
            .start()
        )

    def _taking(self, rows: DataFrame) -> None:
        try:
            self._take(rows, self.stage)
        except Exception as cause:
            self._cause = cause
            raise


@dataclass(frozen=True)
class _GivenReader:
    spark: SparkSession
    id: str

    def read(self, source: TopicSource) -> DataFrame:
        return self._rows().where(F.col("topic").isin(*source.topics))

    def wall_clock(self) -> WallClockTime:
        now = f"java_method('io.headwater.testing.GivenRecords', 'now', '{self.id}')"
        ticks = self._rows().where(F.col("topic") == _CLOCK)
        return WallClockTime(
            F.expr(f"timestamp_micros(cast({now} AS BIGINT))"),
            ticks.select(F.col("timestamp").alias("at")),
        )

    def _rows(self) -> DataFrame:
        return self.spark.readStream.format("headwater-given").option("records", self.id).load()


def _jvm(spark: SparkSession) -> Any:
    known: Any = spark
    return known._jvm  # noqa: SLF001 - PySpark's way to the JVM


def _micros(at: datetime) -> int:
    return (at.astimezone(UTC) - _EPOCH) // _MICROSECOND
