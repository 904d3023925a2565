"""Entries of a processing log: what ksqlDB's servers tell of records that they could not decode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

if TYPE_CHECKING:
    from pyspark.sql import Column

    from headwater.plan.nodes import ProcessingLogger

_DESERIALIZATION_ERROR = 0


def log_entry(
    logger: ProcessingLogger, *, target: Column, reason: Column, record: Column
) -> Column:
    """Return the bytes of an entry about a row of a topic, which has `topic` and its place.

    The entry's time is the record's: a batch that is written again has to be the same.
    """
    place = F.concat(
        *(F.col("topic"), F.lit(" ["), F.col("partition").cast("string")),
        *(F.lit("] at offset "), F.col("offset").cast("string"), F.lit(", ")),
    )
    error = [
        target.alias("target"),
        F.concat(place, reason).alias("errorMessage"),
        F.array(reason).alias("cause"),
        F.col("topic").alias("topic"),
    ]
    if logger.includes_rows:
        error.append(F.base64(record).alias("recordB64"))
    entry = F.struct(
        F.lit("ERROR").alias("level"),
        F.lit(logger.name).alias("logger"),
        F.unix_millis("timestamp").alias("time"),
        F.struct(
            F.lit(_DESERIALIZATION_ERROR).alias("type"),
            F.struct(*error).alias("deserializationError"),
        ).alias("message"),
    )
    return F.to_json(entry).cast("binary")
