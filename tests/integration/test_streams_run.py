"""Programs on Spark against a real broker: from topic to topic, failing, restarted, refused."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.streams_topics import Topics, app_of, run_once, topics
from tests.registry_process import RegistryProcess
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.clients import ClusterAccess
from headwater.serde import AvroDeserializer, AvroSerializer, SchemaRegistryClient
from headwater.spark.checkpoints import CheckpointError
from headwater.spark.cluster import Cluster
from headwater.spark.jobs.job import Job, JobFailed
from headwater.spark.jobs.metrics import serve_metrics
from headwater.streams import PlanError, col

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.broker_process import BrokerProcess

__all__ = ["spark", "topics"]

READING = "id string, value bigint"


@pytest.fixture(scope="module")
def registry(broker: BrokerProcess) -> Iterator[RegistryProcess]:
    process = RegistryProcess(broker.bootstrap_servers).start()
    yield process
    process.stop()


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
def test_history_is_processed_once_and_the_next_run_goes_on(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path, guarantee: Any
) -> None:
    topics.create(topic)
    topics.write(topic, *({"id": "a", "value": value} for value in range(4)))
    app = app_of(topics, tmp_path, guarantee=guarantee)
    stream = app.stream(topic, value_type=READING)
    stream.filter(col("value") > 1).to(f"{topic}-high")
    stream.filter(col("value") <= 1).to(f"{topic}-low")
    job = run_once(app, spark)
    assert [(query.state, query.rows, query.lag) for query in job.progress()] == [
        ("finished", 4, 0)
    ], "both sinks share a query"
    topics.write(topic, {"id": "a", "value": 9})
    run_once(app, spark)
    values = [json.loads(each.value()) for each in topics.read(f"{topic}-high", 3)]
    assert [each["value"] for each in values] == [2, 3, 9]
    assert len(topics.read(f"{topic}-low", 2)) == 2


def test_an_aggregate_of_what_never_is_null(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    topics.write(topic, {"value": 1}, {"value": 2}, key="a")
    topics.write(topic, {"value": 3}, key="b")
    app = app_of(topics, tmp_path, guarantee="exactly_once")
    counts = app.stream(topic, value_type="value bigint").group_by_key().count()
    counts.to_stream().group_by("key").count().to_stream().to(f"{topic}-counted")
    run_once(app, spark)
    counted = [(each.key(), each.value()) for each in topics.read(f"{topic}-counted", 2)]
    assert sorted(counted) == [(b"a", b'{"count":1}'), (b"b", b'{"count":1}')]


def test_new_schemas_are_learnt_while_a_job_runs(
    spark: SparkSession, topics: Topics, registry: RegistryProcess, topic: str, tmp_path: Path
) -> None:
    client = SchemaRegistryClient(registry.url)
    fields = [{"name": "id", "type": "string"}, {"name": "value", "type": "long"}]
    unit = {"name": "unit", "type": ["null", "string"], "default": None}
    old = json.dumps({"type": "record", "name": "R", "fields": fields})
    new = json.dumps({"type": "record", "name": "R", "fields": [*fields, unit]})
    topics.create(topic)
    topics.write(topic, AvroSerializer(client, old)({"id": "a", "value": 1}, topic), b"rubbish")
    app = app_of(topics, tmp_path, registry_url=registry.url)
    app.stream(topic, value="avro", dead_letter=f"{topic}-dead").to(f"{topic}-out")
    notices: list[str] = []
    job = Job(app.plan(), notice=notices.append)
    job.start(spark)
    try:
        metrics = f"http://127.0.0.1:{serve_metrics(lambda: {'app': job.progress()}, 0)}/metrics"
        decode = AvroDeserializer(client)
        (first,) = topics.read(f"{topic}-out", 1)
        assert decode(first.value(), f"{topic}-out") == {"id": "a", "value": 1}
        unknown = AvroSerializer(client, new)({"id": "b", "value": 2, "unit": "C"}, topic)
        # A registry that is away when it is asked for the schema delays the job, no more.
        registry.stop()
        topics.write(topic, unknown)
        wait_for(lambda: "\n".join(notices), "a retry", until=lambda text: "trying again" in text)
        registry.start()
        # At least once: what was read before the new schema may come again.
        found: list[Any] = []
        while {"id": "b", "value": 2} not in found:
            found = [
                decode(each.value(), topic) for each in topics.read(f"{topic}-out", len(found) + 1)
            ]
        assert any("is new in" in line for line in notices)
        (dead,) = topics.read(f"{topic}-dead", 1)
        assert dead.value() == b"rubbish"
        assert dict(dead.headers())["headwater.offset"] == b"1"
        with urllib.request.urlopen(metrics) as answer:
            text = answer.read().decode()
        assert f'headwater_query_restarts_total{{app="app",query="{topic}"}}' in text
    finally:
        job.stop()
    assert {query.state for query in job.progress()} == {"stopped"}


def test_a_malformed_record_fails_the_job_with_its_place(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    topics.write(topic, {"id": "a", "value": 1}, b"{rubbish")
    app = app_of(topics, tmp_path)
    app.stream(topic, value_type=READING).to(f"{topic}-out")
    place = rf"malformed record, {topic} \[0\] at offset 1, value: "
    with pytest.raises(JobFailed, match=f"{place}.*dead_letter"):
        run_once(app, spark)


def test_a_failing_function_is_named(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    topics.write(topic, {"id": "a", "value": 0})
    app = app_of(topics, tmp_path)

    def divide(value: dict[str, Any]) -> int:
        return 1 // int(value["value"])

    app.stream(topic, value_type=READING).map_values(divide, returns="int").to(f"{topic}-out")
    with pytest.raises(JobFailed, match=r"ZeroDivisionError.*test_streams_run\.py"):
        run_once(app, spark)


def test_what_cannot_run_is_refused_before_spark_is_needed(
    topics: Topics, topic: str, tmp_path: Path
) -> None:
    wrong = app_of(topics, tmp_path)
    wrong.stream(f"{topic}s", value_type=READING).to(f"{topic}-out")
    with pytest.raises(PlanError, match=rf"test_streams_run\.py:\d+: there is no topic '{topic}s'"):
        Job(wrong.plan()).prepare()
    app = app_of(topics, tmp_path)
    app.stream(topic, value_type=READING).to(f"{topic}-out")
    topics.create(topic)
    running = Job(app.plan())
    running.prepare()
    with pytest.raises(CheckpointError, match="is in use by the app 'app'"):
        Job(app.plan()).prepare()
    running.stop()
    again = Job(app.plan())
    again.prepare()
    again.stop()


def test_lag_is_what_the_cluster_has_more(topics: Topics, topic: str) -> None:
    topics.create(topic)
    topics.write(topic, *({"value": value} for value in range(5)))
    cluster = Cluster(ClusterAccess(topics.servers))
    assert cluster.behind({(topic, 0): 2}) == {topic: 3}
    assert cluster.behind({(topic, 0): 5}) == {topic: 0}
    assert cluster.behind({("nothing-like-this", 0): 5}) is None


def test_a_checkpoint_of_another_cluster_is_refused(
    topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    app = app_of(topics, tmp_path)
    app.stream(topic, value_type=READING).to(f"{topic}-out")
    (tmp_path / "checkpoint").mkdir()
    (tmp_path / "checkpoint" / "cluster.txt").write_text("another")
    with pytest.raises(CheckpointError, match=r"offsets of the cluster another, .* delete that"):
        Job(app.plan()).prepare()
