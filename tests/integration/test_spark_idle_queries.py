"""Queries without records: they ask the broker for next to nothing, and miss nothing."""

from __future__ import annotations

import json
import operator
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions
from tests.integration.scrape import Metrics
from tests.integration.streams_topics import Topics, app_of
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.spark.jobs.job import Job
from headwater.streams import tumbling

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

    from headwater.streams import App

__all__ = ["spark"]

VALUE = "value bigint"
_LONGEST_WAIT = "headwater.source.longestWaitMs"
_PATIENCE = "headwater.source.patienceMs"
_NEVER_MS = 1_000_000
# Spark asks more often than that, ten to a hundred times, unless somebody makes it wait.
_REQUESTS_WITHIN_S, _FEW_REQUESTS = 1.5, 20


@pytest.fixture
def measured(start_broker: StartBroker) -> BrokerProcess:
    return start_broker({"headwater.metrics.port": "0"})


@pytest.fixture
def topics(measured: BrokerProcess) -> Topics:
    return Topics(measured.bootstrap_servers)


@contextmanager
def set_in_jvm(name: str, milliseconds: int, spark: SparkSession) -> Iterator[None]:
    system: Any = spark.sparkContext._jvm.System  # type: ignore[union-attr]
    system.setProperty(name, str(milliseconds))
    try:
        yield
    finally:
        system.clearProperty(name)


def looking_every(milliseconds: int, spark: SparkSession) -> AbstractContextManager[None]:
    """Have idle queries look for themselves after so long, if nobody has told them anything."""
    return set_in_jvm(_LONGEST_WAIT, milliseconds, spark)


@contextmanager
def running(app: App, spark: SparkSession) -> Iterator[Job]:
    job = Job(app.plan())
    job.start(spark)
    try:
        yield job
    finally:
        job.stop()


def wait_until_idle(broker: BrokerProcess) -> None:
    def asked() -> float:
        before = Metrics(broker).sum("kafka_network_requestmetrics_requests_total")
        time.sleep(_REQUESTS_WITHIN_S)  # measured over this time, nothing is waited for
        return Metrics(broker).sum("kafka_network_requestmetrics_requests_total") - before

    wait_for(asked, until=lambda requests: requests < _FEW_REQUESTS)


def test_an_idle_query_asks_rarely_and_goes_on_with_the_first_record_in_any_source(
    spark: SparkSession, measured: BrokerProcess, topics: Topics, topic: str, tmp_path: Path
) -> None:
    others = f"{topic}-others"
    topics.create(topic, others)
    app = app_of(topics, tmp_path, guarantee="exactly_once")
    merged = app.stream(topic, value_type=VALUE).merge(app.stream(others, value_type=VALUE))
    merged.to(f"{topic}-out")
    with looking_every(_NEVER_MS, spark), running(app, spark) as job:
        wait_for(lambda: not job.progress()[0].awaits_report)
        topics.write(topic, {"value": 0})
        topics.read(f"{topic}-out", 1)
        for number, written in enumerate((topic, others, topic), 1):
            wait_until_idle(measured)
            topics.write(written, {"value": number})
            topics.read(f"{topic}-out", number + 1)
        producer = Producer(
            {"bootstrap.servers": topics.servers, "transactional.id": topic, "log_level": 0}
        )
        producer.init_transactions()
        producer.begin_transaction()
        producer.produce(others, json.dumps({"value": 4}), "k")
        producer.flush()
        wait_until_idle(measured)
        producer.commit_transaction()
        topics.read(f"{topic}-out", 5)
        # Not lost among the reports of there being nothing.
        wait_for(lambda: job.progress()[0].rows, until=lambda rows: rows == 5)
        wait_until_idle(measured)
    assert [query.state for query in job.progress()] == ["stopped"]
    with running(app, spark):
        wait_until_idle(measured)
        measured.kill()
        measured.start()
        topics.write(others, {"value": 5})
        values = [json.loads(each.value())["value"] for each in topics.read(f"{topic}-out", 6)]
    assert values == [0, 1, 2, 3, 4, 5]


def test_records_that_follow_soon_spare_the_batch_without_any(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    """Each record moves time on, which closes windows: Spark would run a second batch for that."""
    minute_ms = 60_000
    app = app_of(topics, tmp_path, guarantee="exactly_once")
    minutes = app.stream(topic, value_type=VALUE).group_by_key().windowed_by(tumbling("1 minute"))
    minutes.count().suppress().to_stream().to(f"{topic}-final")
    minutes.count().to_stream().to(f"{topic}-counts")
    topics.create(topic)
    with running(app, spark) as job:

        def batches() -> list[tuple[int, int]]:
            return [(query.batch, query.rows) for query in job.progress()]

        # The first batch of a program is there without a record.
        wait_for(lambda: not any(query.awaits_report for query in job.progress()))
        with set_in_jvm(_PATIENCE, _NEVER_MS, spark):
            for number in range(1, 5):
                topics.produce(topic, "k", {"value": 0}, timestamp_ms=number * minute_ms)
                topics.flush()
                # One more for each record: the next one has the work that this one has left.
                done = [(number, number)] * 2
                wait_for(batches, until=partial(operator.eq, done))
            topics.read(f"{topic}-final", 2)
            assert batches() == [(4, 4)] * 2
        # Nothing follows any more: the batch without records closes the third window.
        topics.read(f"{topic}-final", 3)


def test_an_idle_query_finds_new_partitions(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    """In both modes at once: in real-time mode there is a look every ten seconds.

    There, one partition and its state are one task; with the second, Spark shuffles.
    """

    def counting(mode: str) -> AbstractContextManager[Job]:
        wanted = {"spark.headwater.realTime": str(mode == "real-time").lower()}
        app = app_of(topics, tmp_path / mode, f"{topic}-{mode}", spark=wanted)
        counts = app.stream(topic, value_type=VALUE).group_by_key().count(emit="record")
        counts.to_stream().to(f"{topic}-{mode}")
        return running(app, spark)

    def is_shuffled() -> bool:
        (query,) = [each for each in spark.streams.active if f"{topic}-real-time" in each.name]
        internal: Any = query
        return "Exchange" in internal._jsq.explainInternal(False)

    topics.create(topic)
    topics.write(topic, {"value": 0})
    with (
        looking_every(1_000, spark),
        counting("running") as in_batches,
        counting("real-time") as real_time,
    ):
        modes = ["running", "real-time"]
        for mode in modes:
            topics.read(f"{topic}-{mode}", 1)
        wait_for(
            lambda: [job.progress()[0].state for job in (in_batches, real_time)],
            until=lambda states: states == modes,
        )
        topics.write(topic, {"value": 1})
        topics.read(f"{topic}-real-time", 2)
        assert not is_shuffled()
        # After a batch with the record and one without, there are batches of minutes.
        wait_for(lambda: real_time.progress()[0].batch >= 2)
        admin = AdminClient({"bootstrap.servers": topics.servers})
        admin.create_partitions([NewPartitions(topic, 2)])[topic].result()
        fresh = Topics(topics.servers)  # the other producer does not know the partition yet
        fresh.produce(topic, "k", {"value": 2}, partition=1)
        fresh.flush()
        for mode in modes:
            counts = [json.loads(each.value()) for each in topics.read(f"{topic}-{mode}", 3)]
            assert counts == [{"count": number} for number in (1, 2, 3)]
        assert is_shuffled()
