"""Into how many partitions a query divides its state: a setting of the session when it is started.

A topic of one partition is read by one task. State in one partition can be kept by the same task,
without a shuffle, which in real-time mode costs slots and time even if there is nothing to do.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"

# Jobs share the session: one must not see what another has set for a query of its own.
_starting = threading.Lock()


def usual_partitions(spark: SparkSession) -> int:
    """Return how many the session's queries have."""
    with _starting:
        return int(spark.conf.get(SHUFFLE_PARTITIONS) or 1)


@contextmanager
def state_in(spark: SparkSession, partitions: int | None) -> Iterator[None]:
    """Give a query that is started meanwhile so many; None stands for as many as is usual.

    One that goes on from its checkpoint keeps what it had.
    """
    with _starting:
        usual = spark.conf.get(SHUFFLE_PARTITIONS)
        if partitions is not None:
            spark.conf.set(SHUFFLE_PARTITIONS, partitions)
        try:
            yield
        finally:
            if usual is not None:
                spark.conf.set(SHUFFLE_PARTITIONS, usual)
