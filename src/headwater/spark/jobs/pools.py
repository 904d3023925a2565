"""A pool of Spark's fair scheduler for each job, so that none waits for another's backlog."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_POOL = "spark.scheduler.pool"


@contextmanager
def in_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """Let what this thread starts meanwhile, queries and batches, have its tasks in this pool."""
    context = spark.sparkContext
    before = context.getLocalProperty(_POOL)
    context.setLocalProperty(_POOL, name)
    try:
        yield
    finally:
        # None takes a property away, which its type does not say.
        context.setLocalProperty(_POOL, before)  # type: ignore[arg-type]
