"""Records that are gone before a program has read them: it says so, and does not go on silently."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.spark_session import spark

from headwater.spark.jobs.job import Job, JobFailed
from headwater.streams import App, col

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.broker_process import BrokerProcess

__all__ = ["spark"]

WITHIN_S = 240


def test_what_retention_took_is_told(
    spark: SparkSession, broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    app = App("app", bootstrap_servers=broker.bootstrap_servers, checkpoint_dir=tmp_path / "kept")
    app.stream(topic, value_type="value bigint").filter(col("value") > 0).to(f"{topic}-out")
    write(broker, topic, 3)
    run_once(app, spark)

    write(broker, topic, 5)
    gone = admin.delete_records([TopicPartition(topic, 0, 6)])
    next(iter(gone.values())).result()
    with pytest.raises(JobFailed) as failure:
        run_once(app, spark)
    told = str(failure.value)
    assert "records are gone before they were read" in told, told
    assert f"{topic}-0" in told, told
    assert "A new --checkpoint-dir starts with what is there" in told, told


def write(broker: BrokerProcess, topic: str, count: int) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
    for value in range(count):
        producer.produce(topic, json.dumps({"value": value}).encode())
    assert producer.flush(60) == 0


def run_once(app: App, spark: SparkSession) -> None:
    job = Job(app.plan(), once=True)
    job.start(spark)
    try:
        assert job.wait(WITHIN_S)
    finally:
        job.stop()
