"""Prints records on standard output, as Kafka Streams does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.nodes import PrintSink
from headwater.plan.schemas.types import backticked
from headwater.spark.sinks.batches import written_by
from headwater.spark.sinks.sink import Sink
from headwater.spark.sinks.writer import Run, SinkWriter

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


@dataclass(frozen=True)
class Printed(Sink):
    """Lines of label, key and value."""

    label: str

    def stream(self, frame: DataFrame) -> DataStreamWriter:
        """Return a writer that prints every batch."""
        return written_by(self.batch, frame)

    def batch(self, frame: DataFrame, batch_id: int) -> None:
        """Print a batch."""
        texts = frame.select(*(_as_text(frame, name) for name in ("key", "value")))
        for key, value in texts.toLocalIterator():
            print(f"[{self.label}]: {key}, {value}", flush=True)  # noqa: T201


class PrintSinkWriter(SinkWriter[PrintSink]):
    """Prints where the program runs."""

    def open(self, sink: PrintSink, run: Run) -> Printed:
        """Return standard output under the sink's label."""
        return Printed(sink.label)


def _as_text(rows: DataFrame, name: str) -> Column:
    from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

    nested = rows.schema[name].dataType.typeName() in ("struct", "array", "map")
    column = F.col(backticked(name))
    return (F.to_json(column) if nested else column.cast("string")).alias(name)
