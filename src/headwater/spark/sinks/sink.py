"""What every sink can do: take a stream, or one batch of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class Sink(ABC):
    """A place for rows."""

    @abstractmethod
    def stream(self, frame: DataFrame) -> DataStreamWriter:
        """Return a writer of the stream that lacks only checkpoint, trigger and output mode."""

    @abstractmethod
    def batch(self, frame: DataFrame, batch_id: int) -> None:
        """Write one batch, called within `foreachBatch` or with 0 for a query over history."""
