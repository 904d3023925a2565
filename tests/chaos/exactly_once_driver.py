"""A Spark driver to be killed: copies a topic to a topic exactly once, until it is stopped.

    python -m tests.chaos.exactly_once_driver SERVERS INPUT OUTPUT PAIRS CHECKPOINT

A second query joins each key's records with every fourth of them, and writes the pairs. It says
"batch N" after every batch of the first. A query that fails is started again, as headwater's jobs
are.
"""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING, Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.spark.session import spark_session
from headwater.spark.sinks import topic_sink
from headwater.spark.stream_stream_join import JoinSpan, stream_stream_join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

# Two tasks at once, each tried four times: what a killed worker takes with it is done again.
MASTER = "local[2,4]"
FAILING = 0.02
BATCH = "1000"

# A record that met nobody waits for longer than the records last.
PAIRED_WITHIN_MS, GRACE_MS = 1_000, 3_600_000
# A key's numbers are 20 apart, and each of its records is a second after the one before.
IS_RIGHT = "CAST(CAST(value AS string) AS bigint) DIV 20 % 4 = 0"


def main(servers: str, source: str, target: str, pairs: str, checkpoint: str) -> None:
    spark = spark_session("chaos", master=MASTER, conf={"spark.ui.enabled": "false"})

    def read() -> DataFrame:
        reader = spark.readStream.format("headwater-kafka")
        reader = reader.option("kafka.bootstrap.servers", servers).option("subscribe", source)
        reader = reader.option("startingOffsets", "earliest")
        return reader.option("maxOffsetsPerTrigger", BATCH).load()

    def start(rows: DataFrame, topic: str) -> StreamingQuery:
        sink = topic_sink(topic, servers=servers, guarantee="exactly_once", query=topic)
        return sink.stream(rows).option("checkpointLocation", f"{checkpoint}/{topic}").start()

    copied, paired = _through_python(read().select("key", "value")), _paired(read(), read())
    copying, pairing = start(copied, target), start(paired, pairs)
    said = -1
    while True:
        try:
            if not copying.awaitTermination(0.05):  # type: ignore[arg-type] # it takes fractions
                said = _report(copying, said)
        except StreamingQueryException as error:
            _tell(error)
            copying, said = start(copied, target), -1
        if (failure := pairing.exception()) is not None:
            _tell(failure)
            pairing = start(paired, pairs)


def _paired(one: DataFrame, other: DataFrame) -> DataFrame:
    one, other = (rows.withColumn("headers", F.lit(None).cast("string")) for rows in (one, other))
    joined = stream_stream_join(
        one.where(f"NOT ({IS_RIGHT})"),
        other.where(IS_RIGHT),
        JoinSpan(PAIRED_WITHIN_MS, PAIRED_WITHIN_MS, GRACE_MS),
        how="left",
    )
    met = F.concat_ws(" ", *(F.col(each).cast("string") for each in ("left_value", "right_value")))
    return joined.select("key", met.cast("binary").alias("value"))


def _through_python(rows: DataFrame) -> DataFrame:
    def work(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        if random.SystemRandom().random() < FAILING:
            raise RuntimeError("this task failed after its rows")

    return rows.mapInArrow(work, rows.schema)


def _report(query: StreamingQuery, said: int) -> int:
    progress = query.lastProgress
    if progress is None or progress["batchId"] <= said:
        return said
    print(f"batch {progress['batchId']}", flush=True)
    return int(progress["batchId"])


def _tell(failure: StreamingQueryException) -> None:
    print(f"failed: {str(failure)[:1000]}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
