"""Calls a function for each record; nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.nodes import ForEachSink
from headwater.spark.compiler.stateless import called
from headwater.spark.sinks.sink import Sink
from headwater.spark.sinks.writer import Run, SinkWriter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from headwater.spark.compiler.nodes import NodeCompiler


class Nowhere(Sink):
    """Computes rows and drops them."""

    def stream(self, frame: DataFrame) -> DataStreamWriter:
        """Return a writer to Spark's `noop` sink."""
        return frame.writeStream.format("noop")

    def batch(self, frame: DataFrame, batch_id: int) -> None:
        """Compute the batch."""
        frame.write.format("noop").mode("append").save()


class ForEachSinkWriter(SinkWriter[ForEachSink]):
    """Calls the function while the rows are computed."""

    def rows(self, sink: ForEachSink, compiler: NodeCompiler) -> DataFrame:
        """Return the rows for which the function was called."""
        return called(sink.function, super().rows(sink, compiler))

    def open(self, sink: ForEachSink, run: Run) -> Nowhere:
        """Return the place where rows end."""
        return Nowhere()
