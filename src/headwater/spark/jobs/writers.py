"""Starts queries: a sink, a trigger and a checkpoint for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.spark.jobs.modes import trigger_of
from headwater.spark.session import is_local
from headwater.spark.sinks.batch_ends import with_batch_ends
from headwater.spark.sinks.registry import writer_of
from headwater.spark.sinks.writer import Run

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql.streaming.query import StreamingQuery

    from headwater.plan.plan import ProgramSettings
    from headwater.spark.compiler.stages import StageQuery
    from headwater.spark.hadoop_path import HadoopPath
    from headwater.spark.jobs.modes import Mode
    from headwater.spark.sinks.topic import MissingMarkers


@dataclass(frozen=True)
class Writers:
    """Starts the queries of one program."""

    app: str
    settings: ProgramSettings

    def start(
        self,
        query: StageQuery,
        checkpoint: Path | HadoopPath,
        mode: Mode,
        missing_markers: MissingMarkers = "fail",
    ) -> StreamingQuery:
        """Start a query from its checkpoint."""
        has_batches = mode != "real-time"
        run = Run(self.app, query.name, self.settings, missing_markers, has_batches)
        sink = with_batch_ends(
            writer_of(query.sink).open(query.sink, run), query.stores, self.settings.cluster,
            checkpoint, has_batches=has_batches,
        )  # fmt: skip
        writer: Any = sink.stream(query.rows).queryName(f"{self.app}: {query.name}")
        writer = writer.outputMode(query.mode).option("checkpointLocation", str(checkpoint))
        trigger = trigger_of(mode, self.settings, one_jvm=is_local(query.rows.sparkSession))
        started: StreamingQuery = writer.trigger(**trigger).start()
        return started

    def rebuild(self, query: StageQuery, checkpoint: Path | HadoopPath) -> StreamingQuery:
        """Start a query for one batch, which its checkpoint has planned, and write nothing.

        What the sink would take is computed, since Spark leaves out of state what nobody needs.
        """
        run = Run(self.app, query.name, self.settings, "continue")
        writer: Any = writer_of(query.sink).open(query.sink, run).stream(query.rows).format("noop")
        writer = writer.queryName(f"{self.app}: {query.name}, again").outputMode(query.mode)
        writer = writer.option("checkpointLocation", str(checkpoint))
        started: StreamingQuery = writer.trigger(once=True).start()
        return started
