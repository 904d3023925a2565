"""The topic of sales as Spark reads it in one go."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from examples.sales.program import SALES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SALE = "product string, salesman string, quantity bigint, price bigint, at timestamp"


def read_sales(spark: SparkSession, servers: str, until: int | None = None) -> DataFrame:
    """Return all sales that there are, or those before an offset."""
    end = "latest" if until is None else json.dumps({SALES: {"0": until}})
    records = (
        spark.read.format("kafka")
        .option("kafka.bootstrap.servers", servers)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", SALES)
        .option("endingOffsets", end)
        .load()
    )
    sales = records.selectExpr(f"from_json(cast(value AS string), '{_SALE}') AS sale")
    return sales.select("sale.*")
