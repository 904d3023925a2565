"""A program without a broker: records go in, results come out, the test says what time it is."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from headwater.plan.formats import INTERNAL, Format
from headwater.plan.graph import walk
from headwater.plan.nodes import Operator, TopicSink, TopicSource
from headwater.plan.plan import Plan
from headwater.plan.stages import split
from headwater.processes.temporary_folder import TemporaryFolder
from headwater.testing.record_fields import check_fields
from headwater.testing.topology_values import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from headwater.plan.stages import Stage
    from headwater.spark.topics import WallClockTime
    from headwater.streams import App

_SCHEMA = (
    "key string, value string, topic string, partition int, offset bigint, timestamp timestamp,"
    " headers array<struct<key:string,value:string>>"
)
_ENDED_WITHIN_S = 600
_START = datetime(2026, 1, 1, tzinfo=UTC)
AnyOperator = TypeVar("AnyOperator", bound=Operator)


@dataclass(frozen=True)
class OutputRecord:
    """A record that the program wrote."""

    key: Any
    value: Any
    timestamp: datetime
    headers: tuple[tuple[str, bytes | None], ...] = ()
    raw: tuple[bytes | None, bytes | None] = field(default=(None, None), compare=False, repr=False)
    """The bytes of key and value."""


class TopologyFailed(Exception):  # noqa: N818 - what became of it, as JobFailed says it
    """The program failed on a record; the message says why."""


class TopologyDriver:
    """Runs an app, or a plan made otherwise, over records that a test gives it.

    >>> with TopologyDriver(app) as driver:  # doctest: +SKIP
    ...     driver.pipe("readings", "s1", {"id": "s1", "value": 900_000})
    ...     [record.value for record in driver.read("alerts")]
    [{'id': 's1', 'value': 900000}]

    `pipe` keeps records, `run` processes them as one micro-batch, and `read` runs what is left and
    returns a topic's new records. State lives from run to run. Event time is what the records'
    timestamps say, and nothing else: a window closes when a later record comes. The clock on the
    wall stands still, until `advance_wall_clock_time` moves it.

    Spark's session is the process's, started with the first driver. Formats of a registry, and
    Protobuf without one, are replaced by JSON, so that no registry is needed either.
    """

    def __init__(
        self,
        program: App | Plan,
        spark: SparkSession | None = None,
        *,
        wall_clock_time: datetime = _START,
    ) -> None:
        from headwater.spark.session import spark_session

        self._spark = spark or spark_session("topology-driver", conf=_QUIET)
        self._directory = TemporaryFolder("topology")
        self._path = self._directory.path
        plan = program if isinstance(program, Plan) else program.plan()
        self._stages = split(_without_registry(plan))
        self._inputs: dict[str, _Topic] = {}
        self._outputs: dict[str, list[OutputRecord]] = {}
        self._cause: Exception | None = None
        self._now = _START
        self._wall_clock = _WallClock(self._path / "clock", wall_clock_time)
        for stage in self._stages:
            for source in stage.topic_sources:
                for topic in source.topics:
                    self._inputs.setdefault(topic, _Topic(topic, self._path / "topics", source))

    def __enter__(self) -> TopologyDriver:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def pipe(
        self,
        topic: str,
        key: Any,
        value: Any,
        *,
        timestamp: datetime | None = None,
        headers: Mapping[str, bytes | None] | None = None,
    ) -> None:
        """Give the program a record; without a timestamp it has that of the one before.

        A value in JSON may also be its bytes. Raises ValueError for a topic or a field that the
        program does not read.
        """
        read = self._read(topic)
        self._check_fields(topic, key, value)
        self._now = timestamp or self._now
        read.add(key, value, self._now, headers or {})

    def pipe_bytes(
        self, topic: str, key: bytes | None, value: bytes | None, timestamp: datetime | None = None
    ) -> None:
        """Give the program a record as a client has written it."""
        read = self._read(topic)
        self._now = timestamp or self._now
        read.add_bytes(key, value, self._now, [])

    def advance_wall_clock_time(self, by: timedelta) -> None:
        """Move the clock on the wall, and fire the timers that are due by it."""
        if by < timedelta(0):
            raise ValueError(f"the clock does not go back: {by}")
        self.run()
        self._wall_clock.advance(by)
        for stage in self._stages:
            if any(node.has_own_clock for node in stage.stateful):
                self._run_stage(stage)
        self.run()

    def run(self) -> None:
        """Process what was given since the last run, through all stages."""
        while self._has_input():
            for stage in self._stages:
                self._run_stage(stage)

    def read(self, topic: str) -> list[OutputRecord]:
        """Run what is left, and return what was written to a topic since it was last read."""
        self.run()
        return self._outputs.pop(topic, [])

    def close(self) -> None:
        """Forget everything; the session stays for the next driver."""
        self._directory.close()

    def _read(self, topic: str) -> _Topic:
        if topic not in self._inputs:
            known = ", ".join(self._inputs)
            raise ValueError(f"the program does not read the topic {topic!r}; it reads {known}")
        return self._inputs[topic]

    def _check_fields(self, topic: str, key: Any, value: Any) -> None:
        sources = (source for stage in self._stages for source in stage.topic_sources)
        rows = {(source.row.key, source.row.value) for source in sources if topic in source.topics}
        if len(rows) == 1:  # what one reader leaves out, another may read
            ((key_type, value_type),) = rows
            check_fields(key, key_type, topic)
            check_fields(value, value_type, topic)

    def _has_input(self) -> bool:
        staged = [topic.stage() for topic in self._inputs.values()]
        return any(staged)

    def _run_stage(self, stage: Stage) -> None:
        from headwater.spark.compiler.nodes import NodeCompiler
        from headwater.spark.compiler.stages import compile_stage
        from headwater.spark.formats.schemas import Schemas
        from headwater.spark.jobs.writers import Writers

        reader = _StagedReader(self._spark, self._inputs, self._wall_clock)
        writers = Writers("test", stage.plan.settings)
        for query in compile_stage(stage, NodeCompiler(self._spark, reader, Schemas(None))):
            checkpoint = self._path / "checkpoints" / query.name
            if isinstance(query.sink, TopicSink):
                started = (
                    query.rows.writeStream.foreachBatch(lambda rows, _: self._taking(rows, stage))
                    .outputMode(query.mode)
                    .option("checkpointLocation", str(checkpoint))
                    .trigger(availableNow=True)
                    .start()
                )
            else:
                started = writers.start(query, checkpoint, "once")
            self._await(started, query.name)

    def _await(self, started: StreamingQuery, name: str) -> None:
        from pyspark.errors import StreamingQueryException

        from headwater.spark.jobs.failures import failure_of

        try:
            ended = started.awaitTermination(_ENDED_WITHIN_S)
        except StreamingQueryException as error:
            # What a user wants to know is the cause, and not Spark's page of Java around it.
            cause, self._cause = self._cause or error, None
            raise TopologyFailed(f"{name}: {failure_of(cause).reason}") from None
        if not ended:
            started.stop()
            raise TimeoutError(f"{name} did not end within {_ENDED_WITHIN_S} s")

    def _taking(self, rows: DataFrame, stage: Stage) -> None:
        try:
            self._take(rows, stage)
        except Exception as cause:
            self._cause = cause
            raise

    def _take(self, rows: DataFrame, stage: Stage) -> None:
        formats = {
            sink.topic: (sink.key_format, sink.value_format)
            for sink in stage.sinks
            if isinstance(sink, TopicSink) and isinstance(sink.topic, str)
        }
        anything = next(
            (
                (sink.key_format, sink.value_format)
                for sink in stage.sinks
                if isinstance(sink, TopicSink) and not isinstance(sink.topic, str)
            ),
            (Format("string"), Format("json")),
        )
        for topic, key, value, headers, timestamp in rows.select(
            "topic", "key", "value", "headers", "timestamp"
        ).collect():
            at = timestamp.replace(tzinfo=UTC) if timestamp.tzinfo is None else timestamp
            if topic in self._inputs:
                self._inputs[topic].add_bytes(key, value, at, headers or [])
            formats_here = formats.get(topic, anything)
            if formats_here[1].kind != INTERNAL:
                record = OutputRecord(
                    decoded(formats_here[0], key), decoded(formats_here[1], value), at,
                    tuple((each["key"], each["value"]) for each in headers or ()),
                    (key and bytes(key), value and bytes(value)),
                )  # fmt: skip
                self._outputs.setdefault(topic, []).append(record)


# A test's batches are tiny, so that one partition is the fastest.
_QUIET = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}


@dataclass
class _Topic:
    """A topic of one partition: a folder with a file for each batch."""

    name: str
    root: Path
    source: TopicSource
    _offset: int = 0
    _files: int = 0
    _pending: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        path = self.root / self.name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def add(self, key: Any, value: Any, at: datetime, headers: Mapping[str, bytes | None]) -> None:
        self.add_bytes(
            encoded(self.source.key_format, key),
            encoded(self.source.value_format, value),
            at,
            [{"key": name, "value": data} for name, data in headers.items()],
        )

    def add_bytes(
        self, key: bytes | None, value: bytes | None, at: datetime, headers: Sequence[Any]
    ) -> None:
        row = {
            "key": _text(key), "value": _text(value), "topic": self.name, "partition": 0,
            "offset": self._offset, "timestamp": at.astimezone(UTC).isoformat(),
            "headers": [{"key": h["key"], "value": _text(h["value"])} for h in headers],
        }  # fmt: skip
        self._offset += 1
        self._pending.append(json.dumps(row))

    def stage(self) -> bool:
        """Make what was added a batch; tell whether there was anything."""
        if not self._pending:
            return False
        _put(self.folder, self._files, "\n".join(self._pending))
        self._files += 1
        self._pending.clear()
        return True


@dataclass
class _WallClock:
    """The test's clock: a folder with a file for each time that it was moved."""

    folder: Path
    now: datetime
    _ticks: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)

    def advance(self, by: timedelta) -> None:
        self.now += by
        _put(self.folder, self._ticks, json.dumps({"at": self.now.astimezone(UTC).isoformat()}))
        self._ticks += 1


@dataclass(frozen=True)
class _StagedReader:
    spark: SparkSession
    topics: Mapping[str, _Topic]
    clock: _WallClock

    def read(self, source: TopicSource) -> DataFrame:
        from functools import reduce

        parts = [self._one(topic) for topic in source.topics]
        return reduce(lambda left, right: left.union(right), parts)

    def wall_clock(self) -> WallClockTime:
        from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

        from headwater.spark.topics import WallClockTime

        ticks = self.spark.readStream.schema("at timestamp").json(str(self.clock.folder))
        return WallClockTime(F.lit(self.clock.now), ticks)

    def _one(self, topic: str) -> DataFrame:
        from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

        raw = self.spark.readStream.schema(_SCHEMA).json(str(self.topics[topic].folder))
        headers = F.transform(
            "headers",
            lambda each: F.struct(
                each["key"].alias("key"), F.unbase64(each["value"]).alias("value")
            ),
        )
        return raw.select(
            F.unbase64("key").alias("key"), F.unbase64("value").alias("value"),
            "topic", "partition", "offset", "timestamp", headers.alias("headers"),
        )  # fmt: skip


def _put(folder: Path, number: int, text: str) -> None:
    hidden = folder / f".{number:08}.json"
    hidden.write_text(text, "utf-8")
    hidden.rename(folder / f"{number:08}.json")


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _without_registry(plan: Plan) -> Plan:
    made: dict[int, Operator] = {}
    for node in walk(parent for sink in plan.sinks for parent in sink.parents):
        made[id(node)] = _rebuilt(node, made)
    return replace(plan, sinks=tuple(_rebuilt(sink, made) for sink in plan.sinks))


def _rebuilt(node: AnyOperator, made: Mapping[int, Operator]) -> AnyOperator:
    parents = tuple(made[id(parent)] for parent in node.parents)
    if isinstance(node, TopicSource | TopicSink):
        key_format, value_format = (_local(each) for each in (node.key_format, node.value_format))
        return replace(node, parents=parents, key_format=key_format, value_format=value_format)
    return replace(node, parents=parents)


def _local(format_: Format) -> Format:
    if format_.needs_registry or format_.kind == "protobuf_nosr":
        return Format("json", window=format_.window)
    return format_
