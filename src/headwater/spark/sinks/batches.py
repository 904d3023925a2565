"""Streams whose batches Python writes, and what Spark is told when one is cut off by a stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


class BatchCutOffError(Exception):
    """A batch was not written to its end, since its query was stopped."""


def written_by(write: Callable[[DataFrame, int], None], frame: DataFrame) -> DataStreamWriter:
    """Return a writer that calls `write` with each batch and its number."""

    def called(batch: DataFrame, batch_id: int) -> None:
        try:
            write(batch, batch_id)
        except Py4JJavaError as error:
            if _is_stop(str(error)):
                raise BatchCutOffError(_IN_SPARKS_WORDS) from None
            raise

    return frame.writeStream.foreachBatch(called)


# A query that is stopped asks with a regular expression whether its failure is that stop, and
# needs some hundred bytes of its stack for each letter between these words. Java's own account,
# with its stack traces, is too long for that: the query's thread would die of it, and say so in
# a thousand lines on standard error.
_IN_SPARKS_WORDS = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling a sink: "
    "java.lang.InterruptedException"
)
_STOPS = ("java.lang.InterruptedException", "cancelled part of cancelled job group")


def _is_stop(account: str) -> bool:
    return any(words in account for words in _STOPS)
