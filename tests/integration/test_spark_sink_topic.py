"""The exactly-once topic sink: every record once, whatever is repeated or changed."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, cast

import pytest
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from tests.docs_page import ROOT, blocks
from tests.integration.spark_sink_pipeline import (
    PARTITIONS,
    WITHIN_S,
    Pipeline,
    Topics,
    fails_after_the_others,
    markers,
    read_committed,
)

from headwater.spark.session import spark_session
from headwater.spark.sinks import ExactlyOnceTopic, topic_sink

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

pytestmark = [pytest.mark.needs("java")]


@pytest.fixture(scope="module")
def spark() -> SparkSession:
    return spark_session("tests")


@pytest.fixture
def topics(bootstrap_servers: str) -> Topics:
    return Topics(bootstrap_servers)


@pytest.fixture
def pipeline(spark: SparkSession, topics: Topics, tmp_path: Path) -> Pipeline:
    return Pipeline(spark, topics, tmp_path / "checkpoint")


def test_a_record_keeps_all_its_parts(spark: SparkSession, topics: Topics) -> None:
    rows = spark.sql(
        f"select 'k' key, cast('v' as binary) value, 1 partition, '{topics.output}' topic,"
        " timestamp '2026-01-02 03:04:05.678' timestamp,"
        " array(named_struct('key', 'h', 'value', cast('x' as binary)),"
        "       named_struct('key', 'n', 'value', cast(null as binary))) headers"
        f" union all select null, null, 0, '{topics.output}', null, null"
    )
    ExactlyOnceTopic(None, topics.servers, {}, "parts-" + topics.suffix).batch(rows, 0)
    empty, full = sorted(
        read_committed(topics.servers, topics.output), key=lambda message: message.partition() or 0
    )
    assert (full.key(), full.value(), full.partition()) == (b"k", b"v", 1)
    assert full.headers() == [("h", b"x"), ("n", None)]
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, 678000, dt.UTC)
    assert full.timestamp()[1] == moment.timestamp() * 1000
    assert (empty.key(), empty.value(), empty.headers()) == (None, None, None)


def test_a_replayed_batch_is_recognised_and_what_follows_is_written(pipeline: Pipeline) -> None:
    pipeline.topics.feed(100)
    pipeline.run()
    pipeline.topics.feed(50)
    pipeline.run()
    pipeline.forget_last_commit()
    pipeline.topics.feed(50)
    pipeline.run()
    assert pipeline.topics.written() == pipeline.topics.sent


def test_a_batch_of_which_some_tasks_committed_is_completed(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    pipeline.topics.feed(40)
    _commit_partly(pipeline, tmp_path)
    assert len(pipeline.topics.written()) == 30
    pipeline.run()
    assert pipeline.topics.written() == pipeline.topics.sent


def test_another_number_of_tasks_for_half_a_batch_is_refused(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    pipeline.topics.feed(40)
    _commit_partly(pipeline, tmp_path)
    with pytest.raises(PySparkException, match=r"of 4 tasks of batch 0 are in the topic.*8 tasks"):
        pipeline.run(pipeline.rows(minPartitions="8"))
    pipeline.run()
    assert pipeline.topics.written() == pipeline.topics.sent


def test_rows_that_move_between_tasks_are_noticed(pipeline: Pipeline, tmp_path: Path) -> None:
    pipeline.topics.feed(40)
    _commit_partly(pipeline, tmp_path)
    with pytest.raises(PySparkException, match="wrote 10 rows before and has 5 now"):
        pipeline.run(pipeline.rows().where("offset < 5"))


def test_a_query_starts_over_with_a_new_checkpoint(pipeline: Pipeline, tmp_path: Path) -> None:
    pipeline.topics.feed(10)
    pipeline.run()
    pipeline.checkpoint = tmp_path / "another"
    pipeline.run()
    assert len(pipeline.topics.written()) == 20


def test_a_checkpoint_from_the_past_is_refused(pipeline: Pipeline) -> None:
    for _ in range(2):
        pipeline.topics.feed(10)
        pipeline.run()
    pipeline.forget_last_commit()
    for path in (pipeline.checkpoint / "offsets").glob("*1*"):
        path.unlink()
    pipeline.forget_last_commit()
    with pytest.raises(PySparkException, match="checkpoint is at batch 0, but batch 1 is in"):
        pipeline.run()


def test_lost_markers_are_not_taken_for_a_fresh_start(pipeline: Pipeline) -> None:
    pipeline.topics.feed(10)
    pipeline.run()
    pipeline.topics.admin.delete_consumer_groups([pipeline.name])[pipeline.name].result(WITHIN_S)
    pipeline.topics.feed(10)
    with pytest.raises(PySparkException, match="nothing says whether batch 1 was written"):
        pipeline.run()
    pipeline.run(sink=pipeline.sink(missing_markers="continue"))
    assert pipeline.topics.written() == pipeline.topics.sent


def test_the_group_records_the_batch_of_every_task(pipeline: Pipeline) -> None:
    pipeline.topics.feed(8)
    pipeline.run()
    assert markers(pipeline.topics.admin, pipeline.name) == {0: PARTITIONS} | dict.fromkeys(
        range(1, PARTITIONS + 1), 1
    )


def test_a_second_query_of_the_same_name_fences_the_first(
    pipeline: Pipeline, spark: SparkSession, tmp_path: Path
) -> None:
    pipeline.topics.feed(4)
    writer = pipeline.sink().stream(pipeline.rows().select("key", "value"))
    first = writer.option("checkpointLocation", str(tmp_path / "first")).start()
    try:
        first.processAllAvailable()
        Pipeline(spark, pipeline.topics, tmp_path / "second", pipeline.name).run()
        pipeline.topics.feed(4)
        with pytest.raises(PySparkException, match="another query runs under the same queryId"):
            first.awaitTermination(WITHIN_S)
    finally:
        first.stop()


def test_batches_within_foreach_batch_are_recognised(pipeline: Pipeline) -> None:
    def run() -> None:
        writer = (
            pipeline.rows().select("key", "value").writeStream.foreachBatch(pipeline.sink().batch)
        )
        query = writer.option("checkpointLocation", str(pipeline.checkpoint)).trigger(
            availableNow=True
        )
        assert query.start().awaitTermination(WITHIN_S)

    pipeline.topics.feed(20)
    run()
    pipeline.forget_last_commit()
    run()
    assert pipeline.topics.written() == pipeline.topics.sent


def test_an_unknown_topic_is_refused(spark: SparkSession, topics: Topics) -> None:
    with pytest.raises(PySparkException, match=r"'missing' does not exist. Create it first"):
        _write(spark, topics, "missing", "select 'v' value")


def test_a_record_that_is_too_large_is_refused(spark: SparkSession, topics: Topics) -> None:
    with pytest.raises(Py4JJavaError, match=r"is too large.*Raise kafka.max.request.size"):
        _write(spark, topics, topics.output, "select repeat('x', 2000000) value")
    assert topics.written() == []


@pytest.mark.parametrize(
    ("rows", "topic", "client", "message"),
    [
        ("select 'v' key", "t", {}, "needs a column 'value'; there are key"),
        ("select 1 value", "t", {}, "column 'value' is int; a record needs binary"),
        ("select 'v' value", None, {}, "to which topic"),
        ("select 'v' value", "t", {"acks": "1"}, "kafka.acks cannot be set"),
        ("select 'v' value, 'x' headers", "t", {}, "column 'headers' is string"),
    ],
)
def test_bad_input_is_refused_at_once(
    spark: SparkSession,
    topics: Topics,
    rows: str,
    topic: str | None,
    client: dict[str, str],
    message: str,
) -> None:
    sink = ExactlyOnceTopic(topic, topics.servers, client, "bad")
    with pytest.raises(PySparkException, match=message):
        sink.batch(spark.sql(rows), 0)


def test_at_least_once_is_spark_s_own_sink(spark: SparkSession, topics: Topics) -> None:
    sink = topic_sink(
        topics.output, servers=topics.servers, guarantee="at_least_once", query="plain"
    )
    sink.batch(spark.sql("select '7' value, current_timestamp() timestamp"), 0)
    assert topics.written() == [b"7"]


def test_the_examples_of_the_page(
    pipeline: Pipeline, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics = pipeline.topics
    topics.feed(10)
    monkeypatch.chdir(tmp_path)
    units = pipeline.rows().selectExpr("cast(key as string) key", "cast(value as string) value")
    names: dict[str, object] = {"spark": pipeline.spark, "units": units}
    for code in blocks(ROOT / "docs/exactly-once.md", "python"):
        for said, meant in (
            ("localhost:9092", topics.servers),
            ('"orders"', f'"{topics.input}"'),
            ('topic_sink("invoices"', f'topic_sink("{topics.output}"'),
            # The JVM's working directory stays what it was when the JVM was started.
            ('"state/', f'"{tmp_path}/state/'),
        ):
            code = code.replace(said, meant)
        try:
            exec(code, names)
        finally:
            query = cast("StreamingQuery", names["query"])
            query.processAllAvailable()
            query.stop()
    assert topics.written() == topics.sent


def _commit_partly(pipeline: Pipeline, tmp_path: Path) -> None:
    """Run the first batch so that the task of partition 2 fails after it has sent its rows."""
    flag = tmp_path / "fail"
    flag.touch()
    with pytest.raises(PySparkException, match="told to fail"):
        pipeline.run(fails_after_the_others(pipeline.rows(), pipeline, 2, flag))
    flag.unlink()


def _write(spark: SparkSession, topics: Topics, topic: str, rows: str) -> None:
    ExactlyOnceTopic(topic, topics.servers, {}, "writes-" + topics.suffix).batch(spark.sql(rows), 0)
