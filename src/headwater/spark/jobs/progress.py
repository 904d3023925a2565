"""How a query is doing, read from what Spark reports after each batch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

LATE_RECORDS = "late-records-"
"""Begins the names under which our operators count late records, where Spark does not."""


@dataclass(frozen=True)
class QueryProgress:
    """One query's state, and its last batch."""

    name: str
    state: str = "starting"
    batch: int = -1
    rows: int = 0
    """Rows read since the query was started."""
    rows_per_second: float = 0.0
    batch_ms: int = 0
    lag: int = 0
    """Records in the topics that were not read: as of the last batch's start, in real-time mode
    as of its end."""
    lags: Mapping[str, int] = field(default_factory=dict)
    """The same by topic."""
    state_rows: int = 0
    state_bytes: int = 0
    late_rows: int = 0
    """Rows dropped since the start because their window had closed."""
    restarts: int = 0
    failure: str = ""
    why_micro_batches: str = ""
    """Why it does not run in real-time mode; empty where it does."""
    stage: str = ""
    """The stage of the plan that it computes, or a part of it."""

    @property
    def awaits_report(self) -> bool:
        """Whether nothing is known of its records yet: in real-time mode, for the first batch.

        A query that has finished without a batch had nothing to do, and its zeros are true.
        """
        return self.batch < 0 and self.state != "finished"

    def after(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a report changes."""
        operators = report.get("stateOperators") or []
        rows, batch_ms = int(report.get("numInputRows") or 0), _batch_ms(report)
        lags = _lags(report.get("sources") or [])
        return {
            "batch": int(report["batchId"]),
            "rows": self.rows + rows,
            "rows_per_second": rows * 1_000 / batch_ms if batch_ms else 0.0,
            "batch_ms": batch_ms if is_of_batch(report) else self.batch_ms,
            "lag": sum(lags.values()),
            "lags": lags,
            "state_rows": sum(int(each.get("numRowsTotal") or 0) for each in operators),
            "state_bytes": sum(int(each.get("memoryUsedBytes") or 0) for each in operators),
            "late_rows": self.late_rows
            + sum(int(each.get("numRowsDroppedByWatermark") or 0) for each in operators)
            + _observed_late(report.get("observedMetrics") or {}),
        }


def is_of_batch(report: Mapping[str, Any]) -> bool:
    """Tell whether a batch was run: Spark also reports now and then that there is none to run."""
    return "addBatch" in (report.get("durationMs") or {})


def read_to(report: Mapping[str, Any]) -> dict[tuple[str, int], int]:
    """Return up to which offset each partition was read when a batch ended."""
    return {
        (topic, int(partition)): offset
        for source in report.get("sources") or []
        for (topic, partition), offset in _offsets(source.get("endOffset")).items()
    }


def _batch_ms(report: Mapping[str, Any]) -> int:
    """Return how long the batch took, without the time for which it waited for records."""
    durations = report.get("durationMs") or {}
    return int(durations.get("triggerExecution", 0)) - int(durations.get("latestOffset", 0))


def _observed_late(metrics: Mapping[str, Any]) -> int:
    return sum(
        int(each["count"]) for name, each in metrics.items() if name.startswith(LATE_RECORDS)
    )


def _lags(sources: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    lags: dict[str, int] = {}
    for source in sources:
        latest, end = _offsets(source.get("latestOffset")), _offsets(source.get("endOffset"))
        for (topic, partition), offset in latest.items():
            behind = max(0, offset - end.get((topic, partition), 0))
            lags[topic] = lags.get(topic, 0) + behind
    return lags


def _offsets(given: object) -> dict[tuple[str, str], int]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return {}
    if not isinstance(given, Mapping):
        return {}
    return {
        (str(topic), str(partition)): int(offset)
        for topic, partitions in given.items()
        if isinstance(partitions, Mapping)
        for partition, offset in partitions.items()
    }
