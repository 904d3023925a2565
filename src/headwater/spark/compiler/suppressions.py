"""Tables whose updates are held back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark's users know it

from headwater.plan.schemas.types import WINDOW_FIELDS
from headwater.spark.suppression import suppressed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.plan.nodes import Suppress


def held_back(node: Suppress, table: DataFrame) -> DataFrame:
    """Give the last row of each key, or of each window, when its time is over."""
    identity = [F.col("key")]
    if node.row.windowed:
        identity += [F.col(f"value.{field.name}") for field in WINDOW_FIELDS]
    buffer = node.buffer
    return suppressed(
        table,
        identity,
        limit_ms=buffer.limit_ms,
        max_records=buffer.max_records,
        max_bytes=buffer.max_bytes,
        emits_early=buffer.when_full == "emit early",
    )
