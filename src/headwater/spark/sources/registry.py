"""Which reader each source of a plan has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.plan.errors import PlanError
from headwater.plan.nodes import Source, TopicSource
from headwater.spark.sources.topic import TopicSourceReader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.spark.sources.source import SourceReader

READERS: Mapping[type[Source], SourceReader[Any]] = {
    TopicSource: TopicSourceReader(),
}
"""One for each subclass of `Source`."""


def reader_of(source: Source) -> SourceReader[Any]:
    """Return what reads a source; refuse one that nothing reads."""
    reader = READERS.get(type(source))
    if reader is None:
        raise PlanError(f"Spark has no reader for a {type(source).__name__}", source.location)
    return reader
