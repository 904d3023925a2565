"""What Spark reports after a batch."""

from __future__ import annotations

from dataclasses import replace

from headwater.spark.jobs.progress import LATE_RECORDS, QueryProgress

REPORT = {
    "batchId": 4,
    "numInputRows": 10,
    "durationMs": {"triggerExecution": 9_200, "latestOffset": 9_000, "addBatch": 100},
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
    assert progress.rows_per_second == 50, "it waited for the records, and then took 200 ms"


def test_a_report_without_a_batch_leaves_the_last_one_as_it_was() -> None:
    batch = replace(QueryProgress("q"), **QueryProgress("q").after(REPORT))
    nothing = {"batchId": 5, "durationMs": {"triggerExecution": 10_001, "latestOffset": 10_000}}
    idle = replace(batch, **batch.after(nothing))
    assert (idle.batch_ms, idle.rows) == (200, 10)


def test_a_report_may_lack_almost_everything() -> None:
    changed = QueryProgress("q").after({"batchId": 0, "sources": [{"latestOffset": "rubbish"}]})
    assert changed["lag"] == changed["rows"] == 0
