"""Tables for look-ups and Parquet files: what a stream wrote, read back."""

from __future__ import annotations

import datetime as dt
import sqlite3
import threading
import traceback
from contextlib import closing
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql.types import Row
from tests.integration.spark_sink_pipeline import WITHIN_S
from tests.waiting import wait_for

from headwater.plan.errors import PlanError
from headwater.spark.session import spark_session
from headwater.spark.sinks import ParquetFiles, Sink, TableStore, TableStoreSink
from headwater.spark.sinks.batches import BatchCutOffError, written_by
from headwater.spark.sinks.table_store import TableNotFound
from headwater.spark.sinks.table_types import UnsupportedKey

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = [pytest.mark.needs("java")]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return spark_session("tests")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "table.db"


def test_a_table_follows_upserts_and_tombstones(spark: SparkSession, path: Path) -> None:
    sink = TableStoreSink(path)
    sink.batch(_rows(spark, "('a', 1), ('b', 2), ('a', 3), ('c', 4), (null, 5)"), 0)
    sink.batch(_rows(spark, "('b', null), ('d', 6), ('d', null), ('e', null), ('e', 7)"), 1)
    with TableStore(path) as table:
        assert table.get("a") == 3
        assert table.get("b") is None
        assert list(table.all()) == [("a", 3), ("c", 4), ("e", 7)]
        assert list(table.range("b", "e")) == [("c", 4), ("e", 7)]
        assert len(table) == 3


def test_structs_come_back_as_they_were(spark: SparkSession, path: Path) -> None:
    rows = spark.sql(
        "select named_struct('id', 'm1', 'window', named_struct("
        "  'start', timestamp '2026-01-02 03:04:00', 'end', timestamp '2026-01-02 03:05:00')) key,"
        " named_struct('price', cast(1.50 as decimal(10, 2)), 'day', date '2026-01-02',"
        "  'seen', timestamp '2026-01-02 03:04:05.678901', 'raw', cast('x' as binary),"
        "  'tags', array('a', null), 'counts', map('k', 1), 'none', cast(null as int)) value"
    )
    TableStoreSink(path).batch(rows, 0)
    start = dt.datetime(2026, 1, 2, 3, 4, tzinfo=dt.UTC)
    key = {"id": "m1", "window": {"start": start, "end": start + dt.timedelta(minutes=1)}}
    value = {
        "price": Decimal("1.50"),
        "day": dt.date(2026, 1, 2),
        "seen": start + dt.timedelta(seconds=5, microseconds=678901),
        "raw": b"x",
        "tags": ["a", None],
        "counts": {"k": 1},
        "none": None,
    }
    with TableStore(path) as table:
        assert table.get(key) == value
        assert list(table.range(key, key)) == [(key, value)]


def test_a_replayed_batch_changes_nothing(spark: SparkSession, path: Path, tmp_path: Path) -> None:
    source = tmp_path / "input"
    _rows(spark, "('a', 1)").write.json(str(source))
    rows = spark.readStream.schema("key string, value int").json(str(source))
    checkpoint = tmp_path / "checkpoint"
    _run(rows, TableStoreSink(path), checkpoint)
    for commit in (checkpoint / "commits").glob("*0*"):
        commit.unlink()
    # Were the batch applied again, it would be back.
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("DELETE FROM entry")
    _run(rows, TableStoreSink(path), checkpoint)
    with TableStore(path) as table:
        assert list(table.all()) == []


def test_values_may_get_new_fields(spark: SparkSession, path: Path) -> None:
    sink = TableStoreSink(path)
    sink.batch(spark.sql("select 1 key, named_struct('a', 1) value"), 0)
    sink.batch(spark.sql("select 2 key, named_struct('a', 1, 'b', 'x') value"), 1)
    with TableStore(path) as table:
        assert (table.get(1), table.get(2)) == ({"a": 1}, {"a": 1, "b": "x"})


def test_other_keys_are_refused(spark: SparkSession, path: Path) -> None:
    sink = TableStoreSink(path)
    sink.batch(_rows(spark, "('a', 1)"), 0)
    with pytest.raises(ValueError, match="was made for keys of type"):
        sink.batch(spark.sql("select 1 key, 1 value"), 1)
    with pytest.raises(UnsupportedKey, match="the key is of type array"):
        TableStoreSink(path.with_name("other.db")).batch(
            spark.sql("select array(1) key, 1 value"), 0
        )


def test_a_table_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(TableNotFound, match="start the query that writes it"):
        TableStore(path)


def test_parquet_files_of_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    source, target = tmp_path / "input", tmp_path / "files"
    _rows(spark, "('a', 1), ('b', 2)").write.json(str(source))
    rows = spark.readStream.schema("key string, value int").json(str(source))
    _run(rows, ParquetFiles(target, partition_by=("key",)), tmp_path / "checkpoint")
    assert sorted(spark.read.parquet(str(target)).select("key", "value").collect()) == [
        Row(key="a", value=1),
        Row(key="b", value=2),
    ]


def test_a_folder_of_files_belongs_to_one_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    source, target = tmp_path / "input", tmp_path / "files"
    _rows(spark, "('a', 1)").write.json(str(source))
    rows = spark.readStream.schema("key string, value int").json(str(source))
    _run(rows, ParquetFiles(target), tmp_path / "checkpoint")
    # Spark itself would write nothing, and say nothing.
    with pytest.raises(PlanError, match=rf"{target} has files of another query.* up to batch 0"):
        _run(rows, ParquetFiles(target), tmp_path / "new")
    with pytest.raises(PlanError, match="Name another folder in to_files"):
        ParquetFiles(target).stream(rows).options(checkpointLocation=str(tmp_path / "new"))
    # Spark itself would go on, and fail for ever some batches later.
    with pytest.raises(PlanError, match=r"does not have what this query wrote up to batch 0"):
        _run(rows, ParquetFiles(tmp_path / "elsewhere"), tmp_path / "checkpoint")
    _rows(spark, "('b', 2)").write.mode("append").json(str(source))
    _run(rows, ParquetFiles(target), tmp_path / "checkpoint")
    assert spark.read.parquet(str(target)).count() == 2


def test_a_stop_in_the_middle_of_a_batch_is_a_stop_for_spark(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    begun = threading.Event()

    def write(rows: DataFrame, _: int) -> None:
        if not rows.isEmpty():
            begun.set()
            rows.selectExpr("reflect('java.lang.Thread', 'sleep', 600000L)").collect()

    rows = spark.readStream.format("rate").option("rowsPerSecond", 10).load()
    query = written_by(write, rows).option("checkpointLocation", str(tmp_path)).start()
    try:
        assert begun.wait(WITHIN_S)
        wait_for(spark.sparkContext.statusTracker().getActiveJobsIds)
    finally:
        query.stop()
    (said,) = wait_for(
        lambda: [each.exc_info for each in caplog.records if each.name == "py4j.clientserver"]
    )
    assert said is not None
    assert said[0] is BatchCutOffError
    told = "".join(traceback.format_exception(*said))
    jvm: Any = spark.sparkContext._jvm
    runtime = jvm.org.apache.spark.sql.execution.streaming.runtime
    java, context = jvm.py4j.Py4JException(told), spark.sparkContext._jsc.sc()
    assert runtime.StreamExecution.isInterruptionException(java, context)


def _rows(spark: SparkSession, values: str) -> DataFrame:
    return spark.sql(f"select * from values {values} as t(key, value)")


def _run(rows: DataFrame, sink: Sink, checkpoint: Path) -> None:
    writer = sink.stream(rows).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    assert query.awaitTermination(WITHIN_S), "the query did not end"
