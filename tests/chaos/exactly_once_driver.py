"""A Spark driver to be killed: copies a topic to a topic exactly once, until it is stopped.

    python -m tests.chaos.exactly_once_driver SERVERS INPUT OUTPUT CHECKPOINT

It says "batch N" after every batch. A query that fails is started again, as headwater's jobs are.
"""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING, Any

from pyspark.errors import StreamingQueryException

from headwater.spark.session import spark_session
from headwater.spark.sinks import topic_sink

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

# Two tasks at once, each tried four times: what a killed worker takes with it is done again.
MASTER = "local[2,4]"
FAILING = 0.02
BATCH = "1000"


def main(servers: str, source: str, target: str, checkpoint: str) -> None:
    spark = spark_session("chaos", master=MASTER, conf={"spark.ui.enabled": "false"})
    reader = spark.readStream.format("headwater-kafka").option("kafka.bootstrap.servers", servers)
    reader = reader.option("subscribe", source).option("startingOffsets", "earliest")
    rows = reader.option("maxOffsetsPerTrigger", BATCH).load().select("key", "value")
    sink = topic_sink(target, servers=servers, guarantee="exactly_once", query="chaos")
    while True:
        query = sink.stream(_through_python(rows)).option("checkpointLocation", checkpoint).start()
        try:
            _report(query)
        except StreamingQueryException as error:
            print(f"failed: {str(error)[:1000]}", flush=True)


def _through_python(rows: DataFrame) -> DataFrame:
    def work(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches
        if random.SystemRandom().random() < FAILING:
            raise RuntimeError("this task failed after its rows")

    return rows.mapInArrow(work, rows.schema)


def _report(query: StreamingQuery) -> None:
    said = -1
    while not query.awaitTermination(0.05):  # type: ignore[arg-type] # it takes fractions
        progress = query.lastProgress
        if progress is not None and progress["batchId"] > said:
            said = progress["batchId"]
            print(f"batch {said}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
