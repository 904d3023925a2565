"""Where records come from.

Any subclass of `Source` is one: what the plan has to know of it are its abstract properties. How
Spark reads it is found by the node's type, see headwater/spark/sources.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from headwater.plan.nodes.node import ChangelogMode, Node

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.formats import Format

SourceKind: TypeAlias = Literal["stream", "table", "global_table"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Source(Node):
    """An operator without inputs."""

    @property
    @abstractmethod
    def places(self) -> tuple[str, ...]:
        """The names of what is read, after which stages are named."""

    @property
    @abstractmethod
    def reads(self) -> tuple[str, ...]:
        """What is read, in words for the fingerprint: a checkpoint has positions in it."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The source in a few words, for pictures."""


@dataclass(frozen=True)
class Start:
    """Where a source begins without a checkpoint.

    `at` is `earliest`, `latest`, or `timestamp` with `timestamp_ms`, or `offsets` with an offset
    by topic and partition.
    """

    at: Literal["earliest", "latest", "timestamp", "offsets"] = "earliest"
    timestamp_ms: int | None = None
    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class ProcessingLogger:
    """Who tells of malformed records in a processing log, and whether with their bytes."""

    name: str
    includes_rows: bool = False


@dataclass(frozen=True)
class OnMalformed:
    """What becomes of a record that cannot be decoded: it fails the job, or goes to a topic.

    There it is as it came, or where there is a `logger`, an entry of the log tells of it.
    """

    dead_letter_topic: str | None = None
    logger: ProcessingLogger | None = None

    @property
    def fails(self) -> bool:
        """Whether such a record stops the job."""
        return self.dead_letter_topic is None


@dataclass(frozen=True, eq=False, kw_only=True)
class TopicSource(Source):
    """Records of topics, as a stream or as the changes of a table.

    `timestamp_by` is an expression over the decoded record that replaces its timestamp.
    """

    topics: tuple[str, ...]
    kind: SourceKind
    key_format: Format
    value_format: Format
    start: Start = Start()
    on_malformed: OnMalformed = OnMalformed()
    timestamp_by: Expression | None = None
    internal: bool = False

    @property
    def changelog(self) -> ChangelogMode:
        """Upserts where the topic is read as a table's changes."""
        return ChangelogMode.APPEND if self.kind == "stream" else ChangelogMode.UPSERT

    @property
    def places(self) -> tuple[str, ...]:
        """The topics."""
        return self.topics

    @property
    def reads(self) -> tuple[str, ...]:
        """The topics, each with what it is read as."""
        return tuple(f"{self.kind} {topic}" for topic in self.topics)

    @property
    def summary(self) -> str:
        """What the topics are read as."""
        return f"{self.kind.replace('_', ' ')} of {', '.join(self.topics)}"

    @property
    def topics_aside(self) -> tuple[str, ...]:
        """The topic of what cannot be decoded."""
        topic = self.on_malformed.dead_letter_topic
        return () if topic is None else (topic,)
