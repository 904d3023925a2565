"""What a connector is: a plug-in with its properties, and the source or sink that it opens.

A source is polled for rows, a sink is given batches of them; both are DataFrames, so that Spark
does the work. The worker runs them: it transforms and converts rows, and writes and reads topics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from headwater.config import Definitions, Values
    from headwater.connect.data.shape import Shape

SourcePartition = Mapping[str, object]
SourceOffset = Mapping[str, object]


class ConnectorError(Exception):
    """A connector cannot go on until somebody has changed something; the message says what."""


class RetriableError(ConnectorError):
    """A connector cannot go on now, and can later: a database is away, a file is not there yet."""


class ConnectorType(StrEnum):
    """Which way the data goes."""

    SOURCE = "source"
    SINK = "sink"


class TopicPartition(NamedTuple):
    """One partition of a topic."""

    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with a property that each for itself would be right."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class SourceRows:
    """Rows of some source partitions, and the offset of each after them.

    The columns of `frame` are those of a records DataFrame; one that is missing is null. Each of
    its partitions is in the order in which it is to be written. What one poll returns for the same
    source partition is written in one transaction, in its order.

    `topics` are those of the rows where the connector knows them: there are rows for each, and
    nobody has to look through the rows for their names.
    """

    frame: DataFrame
    shape: Shape
    offsets: tuple[tuple[SourcePartition, SourceOffset], ...]
    topics: frozenset[str] | None = None


class RefusedRecord(NamedTuple):
    """A record that a target will never take, and why."""

    topic: str
    partition: int
    offset: int
    reason: str


@dataclass(frozen=True, slots=True)
class SinkBatch:
    """Records of these ranges of topics, from the first offset to before the second.

    Each has in `_topic`, `_partition` and `_offset` where it came from. After a crash they come
    again, maybe cut into other ranges: a sink remembers up to where it has written, not which ones.
    The records of a topic's partition are all in one partition of the frame, in their order.

    A sink whose properties say that it goes on without records which its target refuses puts them
    into `refused`: the worker counts them, and does what the connector's `errors.` properties say.
    """

    frame: DataFrame
    shape: Shape
    ranges: Mapping[TopicPartition, tuple[int, int]]
    refused: list[RefusedRecord] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ConnectorContext:
    """What a running connector gets from its worker.

    `properties` is the connector's configuration as it was given, `stored_offset` asks for the
    offset that was committed with a source partition's last rows.
    """

    name: str
    start_session: Callable[[], SparkSession]
    stored_offset: Callable[[SourcePartition], SourceOffset | None] = lambda _partition: None
    tasks_max: int = 1
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def session(self) -> SparkSession:
        """The session, started when it is first asked for."""
        return self.start_session()


class Source(Protocol):
    """A source that runs. After an error it is closed, and opened anew from stored offsets."""

    def poll(self) -> Sequence[SourceRows]:
        """Return what is new, soon; nothing if there is nothing, and no Spark job for that."""
        ...

    def next_poll_s(self) -> float:
        """Return in how many seconds it is worth asking again; 0 where there is more already."""
        ...

    def committed(self) -> None:
        """Take note that all rows of the last poll are in their topics, and the offsets too."""
        ...

    def close(self) -> None:
        """Give up what it holds; also after a failed poll."""
        ...


class Sink(Protocol):
    """A sink that runs. After an error it is closed, and opened anew."""

    def write(self, batch: SinkBatch) -> None:
        """Write a batch as a whole; what was written before a crash is written no second time."""
        ...

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Begin here, whatever was written before.

        The worker says so for every partition for which its group has no committed offset, and for
        those whose offset somebody has changed, and commits these positions before the first
        write. A topic that was deleted and made again starts anew this way.
        """
        ...

    def close(self) -> None:
        """Give up what it holds; also after a failed write."""
        ...


@runtime_checkable
class BufferingSink(Sink, Protocol):
    """A sink that keeps records until it has enough of them for a file.

    What it keeps is not committed: after a crash it is read again.
    """

    def written(self) -> Mapping[TopicPartition, int]:
        """Return up to where partitions are written, where that is news; writes what is due.

        The worker asks after each batch, and now and then where there is none.
        """
        ...


@runtime_checkable
class ArrowSink(Sink, Protocol):
    """A sink that takes rows as Arrow: while it writes some, the worker reads the next ones."""

    def columns(self, batch: SinkBatch) -> DataFrame | None:
        """Return what it wants of a batch; None if all of it is written. Any thread may ask."""
        ...

    def write_rows(self, batch: SinkBatch, rows: pa.Table | None) -> None:
        """Write what `columns` has returned, in the order of the batches."""
        ...


class Plugin(Protocol):
    """A kind of connector. `class_names` begins with the one that is listed, aliases follow.

    `definitions` has the plug-in's own properties, not those that all connectors have.
    """

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names for `connector.class`."""
        ...

    @property
    def type(self) -> ConnectorType:
        """Which way the data goes."""
        ...

    @property
    def version(self) -> str:
        """The plug-in's version."""
        ...

    @property
    def definitions(self) -> Definitions:
        """The plug-in's own properties."""
        ...

    def check(self, config: Values) -> list[FieldError]:
        """Return what is wrong beyond each property's own test; reaches out to nobody."""
        ...


class SourcePlugin(Plugin, Protocol):
    """A kind of source."""

    def open(self, config: Values, context: ConnectorContext) -> Source:
        """Return a source that goes on from the stored offsets; raises ConnectorError."""
        ...


class SinkPlugin(Plugin, Protocol):
    """A kind of sink."""

    def open(self, config: Values, context: ConnectorContext) -> Sink:
        """Return a sink; raises ConnectorError."""
        ...
