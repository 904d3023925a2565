"""The batch layer: revenue of each month up to a place in the topic, anew each time it runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from confluent_kafka import Consumer, TopicPartition
from examples.kappa.program import SALES
from examples.sales.topic import read_sales

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

_WITHIN_S = 30.0


def run_batch(spark: SparkSession, servers: str, view: Path) -> int:
    """Write the batch view of all sales that there are, and return where it ends."""
    until = _end(servers)
    sales = read_sales(spark, servers, until)
    rows = spark.sql(
        """SELECT date_format(at, 'yyyy-MM') AS month, count(*) AS sales,
                  sum(quantity * price) AS revenue FROM {sales} GROUP BY 1""",
        sales=sales,
    ).collect()
    months = {row["month"]: {"sales": row["sales"], "revenue": row["revenue"]} for row in rows}
    # Whoever asks meanwhile sees the view before, and then this one, never half of it.
    new = view.with_suffix(".new")
    new.write_text(json.dumps({"until": until, "months": months}))
    new.replace(view)
    return until


def _end(servers: str) -> int:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "lambda-batch"})
    try:
        _, end = consumer.get_watermark_offsets(TopicPartition(SALES, 0), _WITHIN_S)
    finally:
        consumer.close()
    return int(end)
