"""What Spark reports after a batch."""

from __future__ import annotations

from dataclasses import replace

from headwater.spark.jobs.progress import LATE_RECORDS, QueryProgress

REPORT = {
    "batchId": 4,
    "numInputRows": 10,
    "processedRowsPerSecond": 50.0,
    "durationMs": {"triggerExecution": 200},
    "sources": [{"endOffset": '{"t":{"0":5}}', "latestOffset": {"t": {"0": 8, "1": 2}}}],
    "stateOperators": [{"numRowsTotal": 3, "memoryUsedBytes": 9, "numRowsDroppedByWatermark": 2}],
    "observedMetrics": {f"{LATE_RECORDS}KSTREAM-AGGREGATE-1": {"count": 5}, "mine": {"x": 1}},
}


def test_reports_add_up() -> None:
    progress = QueryProgress("q")
    for _ in range(2):
        progress = replace(progress, **progress.after(REPORT))
    assert (progress.rows, progress.late_rows, progress.state_rows) == (20, 14, 3)
    assert (progress.batch, progress.batch_ms, progress.lag) == (4, 200, 5)


def test_a_report_may_lack_almost_everything() -> None:
    changed = QueryProgress("q").after({"batchId": 0, "sources": [{"latestOffset": "rubbish"}]})
    assert changed["lag"] == changed["rows"] == 0
