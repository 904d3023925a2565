"""A program as data: its sinks, from which every operator is reached, and its settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from headwater.clients import ClusterAccess
from headwater.plan.graph import walk
from headwater.plan.nodes import Sink, Source, TopicSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater.clients import RegistryAccess
    from headwater.plan.nodes import Operator

Guarantee = Literal["at_least_once", "exactly_once"]


@dataclass(frozen=True)
class ProgramSettings:
    """What a program needs around it.

    `cluster` and `registry` say where its topics and its schemas are, and as whom to connect to
    them; `spark` has settings for the session (`spark.*`).
    """

    cluster: ClusterAccess = field(default_factory=ClusterAccess)
    registry: RegistryAccess | None = None
    guarantee: Guarantee = "at_least_once"
    checkpoint_dir: Path | str | None = None
    """A folder, or the address of one on another file system, such as s3a://bucket/folder."""
    spark: Mapping[str, str] = field(default_factory=dict)
    replay_from_ms: int | None = None
    """Where streams begin without a checkpoint, whatever the program says."""
    from_topics: bool = False
    """Whether progress is kept in the cluster, too, and gone on from without a checkpoint."""


def checkpoint_place(given: str | Path) -> Path | str:
    """Return a folder's path, or its address if it has one.

    >>> checkpoint_place("s3a://lake/orders")
    's3a://lake/orders'
    """
    return str(given) if "://" in str(given) else Path(given)


@dataclass(frozen=True)
class Plan:
    """What a program does."""

    name: str
    sinks: tuple[Sink, ...]
    settings: ProgramSettings = ProgramSettings()

    def walk(self) -> Iterator[Operator]:
        """Yield every operator once, inputs before what reads them."""
        return walk(self.sinks)

    def sources(self) -> tuple[Source, ...]:
        """Return all that is read."""
        return tuple(node for node in self.walk() if isinstance(node, Source))

    def topic_sources(self) -> tuple[TopicSource, ...]:
        """Return the topics' readers."""
        return tuple(node for node in self.walk() if isinstance(node, TopicSource))
