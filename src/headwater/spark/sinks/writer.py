"""How a sink of a plan becomes a query: its rows, its output mode, and the place for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from headwater.plan import nodes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.plan.plan import ProgramSettings
    from headwater.spark.compiler.nodes import NodeCompiler
    from headwater.spark.compiler.output_modes import OutputMode
    from headwater.spark.sinks.sink import Sink
    from headwater.spark.sinks.topic import MissingMarkers

AnySink = TypeVar("AnySink", bound=nodes.Sink)


@dataclass(frozen=True)
class Run:
    """What a sink may have to know of the query that writes to it."""

    app: str
    query: str
    settings: ProgramSettings
    missing_markers: MissingMarkers = "fail"
    has_batches: bool = True
    """Whether it runs in micro-batches; in real-time mode, each record is on its own."""


class SinkWriter(ABC, Generic[AnySink]):
    """Writes the sinks of one type."""

    @abstractmethod
    def open(self, sink: AnySink, run: Run) -> Sink:
        """Return the place for the rows."""

    def rows(self, sink: AnySink, compiler: NodeCompiler) -> DataFrame:
        """Return what to write."""
        return compiler.rows(sink.parents[0])

    def mode(self, of_stage: OutputMode) -> OutputMode:
        """Return the output mode of the query, where the stage has one."""
        return of_stage
