"""Topics as sinks, with the two guarantees that a program can ask for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from headwater.plan.nodes import TopicSink
from headwater.spark.sinks.sink import Sink
from headwater.spark.sinks.writer import Run, SinkWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from headwater.spark.compiler.nodes import NodeCompiler

Guarantee: TypeAlias = Literal["at_least_once", "exactly_once"]
MissingMarkers: TypeAlias = Literal["fail", "continue"]

# What a record is made of.
_COLUMNS = ("key", "value", "headers", "topic", "partition", "timestamp")
# As the exactly-once sink has it: a micro-batch ends with a flush, so that waiting for more costs
# no time, and larger requests take less of everybody's.
_IN_BATCHES = {"linger.ms": "20", "batch.size": "262144"}


def topic_sink(
    topic: str | None,
    *,
    servers: str,
    guarantee: Guarantee,
    query: str,
    client: Mapping[str, str] | None = None,
    missing_markers: MissingMarkers = "fail",
) -> AtLeastOnceTopic | ExactlyOnceTopic:
    """Return the sink for a topic, or for the topics that the column `topic` names.

    Rows have the columns `value` and, if wanted, `key` (strings or bytes), `headers`, `topic`,
    `partition` and `timestamp`. `query` names the query and sink, and stays the same for ever;
    `client` has settings of Kafka's producer. `missing_markers` says what `exactly_once` does where
    nothing tells whether a batch was written before, see docs/exactly-once.md.
    """
    if guarantee == "exactly_once":
        return ExactlyOnceTopic(topic, servers, dict(client or {}), query, missing_markers)
    return AtLeastOnceTopic(topic, servers, dict(client or {}))


@dataclass(frozen=True)
class AtLeastOnceTopic(Sink):
    """Spark's own Kafka sink: works in real-time mode; after a crash records can come twice.

    Records get the time at which they are written.
    """

    topic: str | None
    servers: str
    client: Mapping[str, str] = field(default_factory=dict)

    def stream(self, frame: DataFrame) -> DataStreamWriter:
        """Return a writer to Spark's `kafka` sink."""
        return _untimed(frame).writeStream.format("kafka").options(**self._options())

    def batch(self, frame: DataFrame, batch_id: int) -> None:
        """Write the batch, again if it was written before."""
        _untimed(frame).write.format("kafka").options(**self._options()).save()

    def _options(self) -> dict[str, str]:
        return _options(self.topic, self.servers, self.client)


@dataclass(frozen=True)
class ExactlyOnceTopic(Sink):
    """Writes each micro-batch in transactions that also record the batch, see docs/exactly-once.md.

    Readers must use `isolation.level=read_committed`. A source of topics must be read with
    `format("headwater-kafka")`, so that a replay gives every task the rows that it had.
    """

    topic: str | None
    servers: str
    client: Mapping[str, str]
    query: str
    missing_markers: MissingMarkers = "fail"

    def stream(self, frame: DataFrame) -> DataStreamWriter:
        """Return a writer to our `headwater-kafka` sink."""
        return _records(frame).writeStream.format("headwater-kafka").options(**self._options())

    def batch(self, frame: DataFrame, batch_id: int) -> None:
        """Write the batch unless it was written before; Spark knows its number by itself."""
        writer = _records(frame).write.format("headwater-kafka").mode("append")
        writer.options(**self._options()).save()

    def _options(self) -> dict[str, str]:
        ours = {"queryId": self.query, "missingMarkers": self.missing_markers}
        return _options(self.topic, self.servers, self.client) | ours


class TopicSinkWriter(SinkWriter[TopicSink]):
    """Writes records, each to the topic that it names."""

    def rows(self, sink: TopicSink, compiler: NodeCompiler) -> DataFrame:
        """Return the records, encoded."""
        return compiler.encoder.encoded(sink, super().rows(sink, compiler))

    def open(self, sink: TopicSink, run: Run) -> AtLeastOnceTopic | ExactlyOnceTopic:
        """Return the program's cluster, with the program's guarantee."""
        return topic_sink(
            None,
            servers=run.settings.cluster.bootstrap_servers,
            guarantee=run.settings.guarantee,
            query=f"{run.app}-{run.query}",
            client=(_IN_BATCHES if run.has_batches else {}) | run.settings.cluster.java(),
            missing_markers=run.missing_markers,
        )


def _options(topic: str | None, servers: str, client: Mapping[str, str]) -> dict[str, str]:
    options = {f"kafka.{name}": value for name, value in client.items()}
    options["kafka.bootstrap.servers"] = servers
    return options if topic is None else options | {"topic": topic}


def _records(frame: DataFrame) -> DataFrame:
    return frame.select(*(name for name in _COLUMNS if name in frame.columns))


def _untimed(frame: DataFrame) -> DataFrame:
    # Spark's own sink would ignore the times; without them, nobody has to compute them.
    return _records(frame).drop("timestamp")
