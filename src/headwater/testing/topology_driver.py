"""A program without a broker: records go in, results come out, the test says what time it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from headwater.plan.formats import INTERNAL, Format
from headwater.plan.graph import walk
from headwater.plan.nodes import Operator, TopicSink, TopicSource
from headwater.plan.plan import Plan
from headwater.plan.splitting.stages import split
from headwater.processes.temporary_folder import TemporaryFolder
from headwater.testing.given_record import GivenRecord
from headwater.testing.record_fields import check_fields
from headwater.testing.topology_values import decoded, encoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame, SparkSession

    from headwater.plan.splitting.stages import Stage
    from headwater.streams import App
    from headwater.testing.stage_run import StageRun

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

    Spark's session is the process's, started with the first driver. Queries run until the driver
    is closed. Formats of a registry, and Protobuf without one, are replaced by JSON, so that no
    registry is needed either.
    """

    def __init__(
        self,
        program: App | Plan,
        spark: SparkSession | None = None,
        *,
        wall_clock_time: datetime = _START,
    ) -> None:
        from headwater.spark.session import spark_session
        from headwater.testing.stage_run import StageRun, session_of_tests

        session = session_of_tests(spark or spark_session("topology-driver", conf=_QUIET))
        self._directory = TemporaryFolder("topology")
        plan = program if isinstance(program, Plan) else program.plan()
        self._runs: list[StageRun] = []
        self._topics: dict[str, _Topic] = {}
        self._outputs: dict[str, list[OutputRecord]] = {}
        self._now = _START
        self._wall_clock_time = wall_clock_time
        for stage in split(_without_registry(plan)):
            for source in stage.topic_sources:
                for topic in source.topics:
                    self._topics.setdefault(topic, _Topic(topic, source))
            folder = self._directory.path / "checkpoints"
            self._runs.append(StageRun(session, stage, folder, wall_clock_time, self._take))

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
        source = read.source
        pairs = tuple((headers or {}).items())
        data = encoded(source.key_format, key), encoded(source.value_format, value)
        read.add(*data, self._now, pairs)

    def pipe_bytes(
        self, topic: str, key: bytes | None, value: bytes | None, timestamp: datetime | None = None
    ) -> None:
        """Give the program a record as a client has written it."""
        read = self._read(topic)
        self._now = timestamp or self._now
        read.add(key, value, self._now)

    def advance_wall_clock_time(self, by: timedelta) -> None:
        """Move the clock on the wall, and fire the timers that are due by it."""
        if by < timedelta(0):
            raise ValueError(f"the clock does not go back: {by}")
        self.run()
        self._wall_clock_time += by
        for run in self._runs:
            run.set_clock(self._wall_clock_time)
        self.run()

    def run(self) -> None:
        """Process what was given since the last run, through all stages."""
        while given := [record for topic in self._topics.values() for record in topic.taken()]:
            for run in self._runs:
                run.give([record for record in given if record.topic in run.topics])
            for run in self._runs:
                run.run()

    def read(self, topic: str) -> list[OutputRecord]:
        """Run what is left, and return what was written to a topic since it was last read."""
        self.run()
        return self._outputs.pop(topic, [])

    def close(self) -> None:
        """End the program and forget everything; the session stays for the next driver."""
        for run in self._runs:
            run.close()
        self._directory.close()

    def _read(self, topic: str) -> _Topic:
        if topic not in self._topics:
            known = ", ".join(self._topics)
            raise ValueError(f"the program does not read the topic {topic!r}; it reads {known}")
        return self._topics[topic]

    def _check_fields(self, topic: str, key: Any, value: Any) -> None:
        sources = (source for run in self._runs for source in run.stage.topic_sources)
        rows = {(source.row.key, source.row.value) for source in sources if topic in source.topics}
        if len(rows) == 1:  # what one reader leaves out, another may read
            ((key_type, value_type),) = rows
            check_fields(key, key_type, topic)
            check_fields(value, value_type, topic)

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
            pairs = tuple((each["key"], each["value"]) for each in headers or ())
            if topic in self._topics:
                self._topics[topic].add(key, value, at, pairs)
            formats_here = formats.get(topic, anything)
            if formats_here[1].kind != INTERNAL:
                record = OutputRecord(
                    decoded(formats_here[0], key), decoded(formats_here[1], value), at, pairs,
                    (key and bytes(key), value and bytes(value)),
                )  # fmt: skip
                self._outputs.setdefault(topic, []).append(record)


# A test's batches are tiny, so that one partition is the fastest.
_QUIET = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1"}


@dataclass
class _Topic:
    """A topic of one partition, and what of it has still to be processed."""

    name: str
    source: TopicSource
    _end: int = 0
    _pending: list[GivenRecord] = field(default_factory=list)

    def add(
        self,
        key: bytes | None,
        value: bytes | None,
        at: datetime,
        headers: tuple[tuple[str, bytes | None], ...] = (),
    ) -> None:
        self._pending.append(GivenRecord(self.name, self._end, key, value, at, headers))
        self._end += 1

    def taken(self) -> list[GivenRecord]:
        taken, self._pending = self._pending, []
        return taken


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
