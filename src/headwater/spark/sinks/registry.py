"""Which writer each sink of a plan has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.plan import nodes
from headwater.plan.errors import PlanError
from headwater.spark.sinks.calls import ForEachSinkWriter
from headwater.spark.sinks.parquet import FileSinkWriter
from headwater.spark.sinks.printing import PrintSinkWriter
from headwater.spark.sinks.topic import TopicSinkWriter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.spark.sinks.writer import SinkWriter

WRITERS: Mapping[type[nodes.Sink], SinkWriter[Any]] = {
    nodes.TopicSink: TopicSinkWriter(),
    nodes.FileSink: FileSinkWriter(),
    nodes.StoreSink: TopicSinkWriter(),
    nodes.PrintSink: PrintSinkWriter(),
    nodes.ForEachSink: ForEachSinkWriter(),
}
"""One for each subclass of `Sink`."""


def writer_of(sink: nodes.Sink) -> SinkWriter[Any]:
    """Return what writes a sink; refuse one that nothing writes."""
    writer = WRITERS.get(type(sink))
    if writer is None:
        raise PlanError(f"Spark has no writer for a {type(sink).__name__}", sink.location)
    return writer
