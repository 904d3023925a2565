"""The FileStream sink: each record becomes a line at the end of a file, exactly once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import headwater
from headwater.config import NOT_EMPTY, ConfigDef, ConfigType, Definitions, Importance
from headwater.connect.connectors.arrow_text import text_of
from headwater.connect.connectors.connector import ConnectorType, FieldError, RetriableError
from headwater.connect.connectors.file.marker import Marker
from headwater.connect.connectors.positions import not_yet_written

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from headwater.config import Values
    from headwater.connect.connectors.connector import (
        ConnectorContext,
        Sink,
        SinkBatch,
        TopicPartition,
    )
    from headwater.connect.data.schema import Schema


class FileStreamSinkPlugin:
    """Appends to a file line by line."""

    class_names = (
        "org.apache.kafka.connect.file.FileStreamSinkConnector",
        "FileStreamSinkConnector",
        "FileStreamSink",
    )
    type = ConnectorType.SINK
    version = headwater.__version__
    definitions = Definitions(
        "FileStreamSink",
        ConfigDef(
            "file",
            ConfigType.STRING,
            None,
            "The file to append to, on the worker's machine; without it, standard output.",
            NOT_EMPTY,
            importance=Importance.HIGH,
        ),
    )

    def check(self, config: Values) -> list[FieldError]:
        """Return nothing: any file will do."""
        del config
        return []

    def open(self, config: Values, context: ConnectorContext) -> Sink:
        """Return a sink that knows what it has written before."""
        file = config.text("file")
        return StandardOutputSink() if file is None else FileStreamSink(Path(file), context.name)


class FileStreamSink:
    """Appends lines. A marker beside the file says which lines are whose, for after a crash."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._marker = Marker(path, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._marker.recover()
        except OSError as failure:
            raise RetriableError(f"{path} cannot be written: {failure.strerror}") from failure

    def write(self, batch: SinkBatch) -> None:
        """Append what is not in the file yet, and have it on disk."""
        columns = self.columns(batch)
        self.write_rows(batch, None if columns is None else columns.toArrow())

    def columns(self, batch: SinkBatch) -> DataFrame | None:
        """Return the lines that are not in the file yet."""
        new = not_yet_written(batch, self._marker.positions)
        return None if new is None else _lines(new, batch.shape.value)

    def write_rows(self, batch: SinkBatch, rows: pa.Table | None) -> None:
        """Append lines, and have them on disk."""
        ends = {partition: end for partition, (_, end) in batch.ranges.items()}
        text = [] if rows is None else [*text_of(rows.column("line"))]
        try:
            self._marker.append(text, {**self._marker.positions, **ends})
        except OSError as failure:
            raise RetriableError(f"{self._path} cannot be written: {failure.strerror}") from failure

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Take these records, too, though they are in the file."""
        self._marker.append([], {**self._marker.positions, **positions})

    def close(self) -> None:
        """Do nothing: nothing is open between batches."""


class StandardOutputSink:
    """Prints lines; after a crash some may be printed twice."""

    def write(self, batch: SinkBatch) -> None:
        """Print all lines."""
        lines = _lines(batch.frame, batch.shape.value).toArrow()
        sys.stdout.write(b"".join(text_of(lines.column("line"))).decode())
        sys.stdout.flush()

    def moved_to(self, positions: Mapping[TopicPartition, int]) -> None:
        """Do nothing: it remembers none."""

    def close(self) -> None:
        """Do nothing."""


def _lines(frame: DataFrame, schema: Schema | None) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

    from headwater.connect.converters.java_text import java_text

    text = F.coalesce(java_text(F.col("value"), schema), F.lit("null"))
    # In the order of each partition's offsets: the frame has them so, and nothing shuffles here.
    return frame.select(F.concat(text, F.lit("\n")).alias("line"))
