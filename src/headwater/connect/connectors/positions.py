"""Up to where a sink has written each partition: what comes again after a crash is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from headwater.connect.connectors.connector import SinkBatch, TopicPartition


def not_yet_written(batch: SinkBatch, positions: Mapping[TopicPartition, int]) -> DataFrame | None:
    """Return the batch's records from these positions on; None if there are none."""
    condition = missing_rows(batch.ranges, positions)
    if condition is None:
        return None
    return batch.frame.where(condition) if condition else batch.frame


def missing_rows(
    ranges: Mapping[TopicPartition, tuple[int, int]], positions: Mapping[TopicPartition, int]
) -> str | None:
    """Return the SQL that tells rows that are not written yet; empty: all, None: none.

    >>> from headwater.connect.connectors.connector import TopicPartition
    >>> t0, t1 = TopicPartition("t", 0), TopicPartition("t", 1)
    >>> missing_rows({t0: (5, 9)}, {t0: 5})
    ''
    >>> missing_rows({t0: (5, 9), t1: (0, 3)}, {t0: 7})
    "NOT ((_topic = 't' AND _partition = 0 AND _offset < 7))"
    >>> missing_rows({t0: (5, 9)}, {t0: 9}) is None
    True
    """
    begun = {
        each: positions[each]
        for each, (start, _) in ranges.items()
        if positions.get(each, start) > start
    }
    if all(begun.get(each, start) >= end for each, (start, end) in ranges.items()):
        return None
    # Names of topics have nothing in them that would need to be quoted.
    written = [
        f"(_topic = '{topic}' AND _partition = {partition} AND _offset < {position})"
        for (topic, partition), position in begun.items()
    ]
    return f"NOT ({' OR '.join(written)})" if written else ""
