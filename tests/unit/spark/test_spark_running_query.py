"""Reports of a query: each counts once, also where some say that there was no batch."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from pyspark.sql.streaming.listener import StreamingQueryProgress

from headwater.spark.jobs.running_query import RunningQuery

RUN = "00000000-0000-0000-0000-000000000001"


class Reporting:
    """A query that has reported so far what it is told to."""

    def __init__(self) -> None:
        self.recentProgress: list[StreamingQueryProgress] = []
        stage: Any = SimpleNamespace(sinks=(), name="s")
        query: Any = SimpleNamespace(name="q")
        self.running = RunningQuery(stage, query)
        spark_query: Any = self
        self.running.spark_query = spark_query

    @property
    def lastProgress(self) -> StreamingQueryProgress | None:  # noqa: N802 - Spark's name
        return self.recentProgress[-1] if self.recentProgress else None

    def batch(self, number: int, rows: int) -> None:
        self._report(number, rows, {"addBatch": 5, "triggerExecution": 9})

    def nothing(self, next_batch: int) -> None:
        self._report(next_batch, 0, {"latestOffset": 10_000, "triggerExecution": 10_001})

    def _report(self, batch: int, rows: int, durations: dict[str, int]) -> None:
        report = {
            "id": RUN,
            "runId": RUN,
            "name": "q",
            "timestamp": f"2026-01-01T00:00:{len(self.recentProgress):02}.000Z",
            "batchId": batch,
            "batchDuration": 0,
            "numInputRows": rows,
            "durationMs": durations,
            "stateOperators": [],
            "sources": [],
            "sink": {"description": "", "numOutputRows": 0, "metrics": {}},
        }
        self.recentProgress.append(StreamingQueryProgress.fromJson(report))

    def rows(self) -> int:
        self.running.take_reports()
        return self.running.progress.rows


def test_a_batch_counts_after_a_report_of_there_being_none() -> None:
    query = Reporting()
    query.nothing(0)
    assert query.rows() == 0
    query.batch(0, 3)
    assert query.rows() == 3
    assert query.rows() == 3, "it is looked at twice"
    query.nothing(1)
    query.batch(1, 4)
    query.nothing(2)
    assert query.rows() == 7, "all of it since the last look"
    query.nothing(2)
    query.batch(2, 1)
    query.batch(3, 1)
    assert query.rows() == 9


def test_nothing_new_is_no_change() -> None:
    query = Reporting()
    query.batch(0, 3)
    query.nothing(1)
    query.rows()
    changed = query.running.changed
    query.nothing(1)
    query.rows()
    assert query.running.changed == changed
