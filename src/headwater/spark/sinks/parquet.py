"""Parquet files: exactly once by Spark's own file sink, whose log says which files are valid."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.nodes import FileSink
from headwater.spark.sinks.sink import Sink
from headwater.spark.sinks.writer import Run, SinkWriter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from headwater.spark.compiler.nodes import NodeCompiler
    from headwater.spark.compiler.output_modes import OutputMode


@dataclass(frozen=True)
class ParquetFiles(Sink):
    """A directory of Parquet files, split into sub-directories by some columns if asked.

    Read it with Spark, which leaves out files of batches that were never finished. Spark's file
    sink appends only: aggregations need a watermark. It also leaves out batches whose numbers the
    directory has already, so that a directory belongs to one checkpoint: another is refused.
    """

    path: str | Path
    partition_by: tuple[str, ...] = ()

    def stream(self, frame: DataFrame) -> DataStreamWriter:
        """Return a writer whose files are valid once their batch is."""
        # Not at the top: this module is imported where Spark may be missing.
        from headwater.spark.sinks.file_writer import FileWriter

        writer = FileWriter(frame, str(self.path)).format("parquet").option("path", str(self.path))
        return writer.partitionBy(*self.partition_by) if self.partition_by else writer

    def batch(self, frame: DataFrame, batch_id: int) -> None:
        """Write the batch to a directory of its own, so that a repetition replaces it."""
        writer = frame.write.mode("overwrite")
        if self.partition_by:
            writer = writer.partitionBy(*self.partition_by)
        writer.parquet(str(Path(self.path) / f"batch={batch_id}"))


class FileSinkWriter(SinkWriter[FileSink]):
    """Writes Parquet, and in append mode whatever else the stage does."""

    def rows(self, sink: FileSink, compiler: NodeCompiler) -> DataFrame:
        """Return the rows, without what is for operators alone; refuse another format."""
        from headwater.spark.operator_rows import ARRIVAL

        if sink.format != "parquet":
            raise PlanError(f"files are Parquet, not {sink.format}", sink.location)
        return super().rows(sink, compiler).drop(ARRIVAL)

    def mode(self, of_stage: OutputMode) -> OutputMode:
        """Files are only added to."""
        return "append"

    def open(self, sink: FileSink, run: Run) -> ParquetFiles:
        """Return the folder."""
        return ParquetFiles(sink.path)
