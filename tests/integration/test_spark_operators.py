"""The stateful operators in the JVM against a plain-Python reference, on random records."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.integration.arrival_reference import (
    Record,
    aggregated,
    joined,
    table_changes,
    windowed,
)
from tests.spark_session import MicroBatches, spark  # noqa: F401

from headwater.spark.operator_rows import Arrival
from headwater.spark.operators import (
    Aggregation,
    Window,
    aggregate_changes,
    changes,
    stream_table_join,
)
from headwater.spark.stream_stream_join import JoinSpan, stream_stream_join

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame, Row, SparkSession

SCHEMA = "key string, value int, time long, offset long, partition int, of_stream boolean"
ARRIVAL = Arrival("timestamp", "offset", ("partition",))
COLUMNS = ("key", "value", "timestamp_seconds(time) AS timestamp", "offset", "partition")

# Spark needs seconds for an example, whose every batch is many cases.
few = settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def record_batches(draw: st.DrawFn) -> list[list[Record]]:
    """Batches of records of three keys, out of order, from two partitions of table and stream."""
    batches = []
    offset = 0
    for size in draw(st.lists(st.integers(1, 40), min_size=2, max_size=3)):
        batch = []
        for _ in range(size):
            offset += 1
            partition = draw(st.integers(0, 1))
            # Which of two partitions is first at the same time is nobody's concern, so no ties.
            time = draw(st.integers(0, 40)) * 2 + partition
            batch.append(
                Record(
                    draw(st.sampled_from(["sensor-a", "sensor-b", "sensor-c"])),
                    draw(st.none() | st.integers(-100, 100)),
                    time,
                    offset,
                    partition,
                    draw(st.booleans()),
                )
            )
        batches.append(draw(st.permutations(batch)))
    return batches


@pytest.mark.parametrize("how", ["inner", "left"])
@few
@given(batches=record_batches())
def test_a_record_meets_the_table_as_it_stood(
    spark: SparkSession,  # noqa: F811
    how: Any,
    batches: list[list[Record]],
) -> None:
    def query(rows: DataFrame) -> DataFrame:
        stream = rows.where("of_stream").selectExpr(*COLUMNS)
        table = rows.where("NOT of_stream").selectExpr(*COLUMNS)
        return stream_table_join(
            stream, table, how=how, stream_arrival=ARRIVAL, table_arrival=ARRIVAL
        )

    results = run_with_restart(spark, batches, query)
    assert by_key(results, lambda row: (row.value, row.table)) == joined(
        batches, left=how == "left"
    )


@few
@given(batches=record_batches())
def test_a_table_says_what_each_change_replaces(
    spark: SparkSession,  # noqa: F811
    batches: list[list[Record]],
) -> None:
    of_table = [[each for each in batch if not each.of_stream] for batch in batches]
    results = run_with_restart(
        spark,
        batches,
        lambda rows: changes(rows.where("NOT of_stream").selectExpr(*COLUMNS), arrival=ARRIVAL),
    )
    assert by_key(results, lambda row: (row.value, row.old)) == table_changes(of_table)


@few
@given(batches=record_batches())
def test_aggregates_come_out_after_each_record(
    spark: SparkSession,  # noqa: F811
    batches: list[list[Record]],
) -> None:
    of_stream = [[each for each in batch if each.of_stream] for batch in batches]
    functions = [
        Aggregation("n", "count"),
        Aggregation("total", "sum", "value"),
        Aggregation("least", "min", "value"),
        Aggregation("latest", "last", "value"),
    ]
    results = run_with_restart(
        spark,
        batches,
        lambda rows: aggregate_changes(
            rows.where("of_stream").selectExpr(*COLUMNS), {"key": "key"}, functions, arrival=ARRIVAL
        ),
    )
    found = by_key(results, lambda row: (row.n, row.total, row.least, row.latest))
    assert found == aggregated(of_stream)


@pytest.mark.parametrize(("size", "advance", "grace"), [(10, 5, 3), (20, 20, 0)])
@few
@given(batches=record_batches())
def test_windows_count_what_is_in_time_and_mark_what_is_late(
    spark: SparkSession,  # noqa: F811
    size: int,
    advance: int,
    grace: int,
    batches: list[list[Record]],
) -> None:
    windows = Window(timedelta(seconds=size), timedelta(seconds=advance), timedelta(seconds=grace))
    results = run_with_restart(
        spark,
        batches,
        lambda rows: aggregate_changes(
            rows.selectExpr(*COLUMNS),
            {"key": "key"},
            [Aggregation("n", "count")],
            window=windows,
            late="mark",
            arrival=ARRIVAL,
        ),
    )
    assert all(row.late == (row.n is None) for batch in results for row in batch)
    found = by_key(results, lambda row: (int(row.window.start.timestamp()), row.n))
    streams = [[Record(**asdict(each) | {"of_stream": True}) for each in b] for b in batches]
    assert found == windowed(streams, size, advance, grace)


@pytest.mark.parametrize("how", ["inner", "outer"])
def test_a_join_of_streams_forgets_what_nobody_can_reach(
    spark: SparkSession,  # noqa: F811
    tmp_path: Path,
    how: Literal["inner", "outer"],
) -> None:
    def query(rows: DataFrame) -> DataFrame:
        rows = rows.selectExpr(*COLUMNS, "of_stream", "CAST(NULL AS string) AS headers")
        left, right = rows.where("of_stream"), rows.where("NOT of_stream")
        return stream_stream_join(left, right, JoinSpan(3000, 6000, 1000), how=how)

    def batch(start: int) -> list[dict[str, Any]]:
        return [
            asdict(Record(f"{start}-{n % 49}", n, start + n % 3, start + n, 0, n % 2 == 0))
            for n in range(200)
        ]

    stream = MicroBatches(spark, SCHEMA, tmp_path)
    stream.feed(*(batch(start) for start in range(0, 400, 100)))
    met = [row for rows in stream.run(query) for row in rows]
    assert met
    after_each = [rows for rows in stream.state_rows if rows]
    assert max(after_each) <= 2 * after_each[0], "it does not grow"
    stream.feed([asdict(Record("end", 0, 1000, 1000, 0, True))])
    stream.run(query)
    # One record, when there were others, and when to look again.
    assert stream.state_rows[-1] <= 4


def run_with_restart(
    spark: SparkSession,  # noqa: F811
    batches: Sequence[Sequence[Record]],
    query: Callable[[DataFrame], DataFrame],
) -> list[list[Row]]:
    """Run the first batch, and the others after a restart from the checkpoint."""
    with tempfile.TemporaryDirectory() as directory:
        stream = MicroBatches(spark, SCHEMA, Path(directory))
        stream.feed([asdict(record) for record in batches[0]])
        results = stream.run(query)
        stream.feed(*([asdict(record) for record in batch] for batch in batches[1:]))
        return results + stream.run(query)


def by_key(batches: list[list[Row]], columns: Callable[[Row], Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for batch in batches:
        for row in batch:
            found[row.key].append(columns(row))
    return dict(found)
