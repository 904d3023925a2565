"""Records that are gone before a program has read them: it says so, and does not go on silently."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from tests.integration.streams_topics import Topics, app_of, run_once
from tests.spark_session import spark

from headwater.spark.jobs.job import JobFailed
from headwater.streams import col

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.broker_process import BrokerProcess

__all__ = ["spark"]


def test_what_retention_took_is_told(
    spark: SparkSession, broker: BrokerProcess, topic: str, tmp_path: Path
) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    topics = Topics(broker.bootstrap_servers)
    topics.create(topic)
    app = app_of(topics, tmp_path)
    app.stream(topic, value_type="value bigint").filter(col("value") > 0).to(f"{topic}-out")
    topics.write(topic, *({"value": value} for value in range(3)))
    run_once(app, spark)

    topics.write(topic, *({"value": value} for value in range(5)))
    gone = admin.delete_records([TopicPartition(topic, 0, 6)])
    next(iter(gone.values())).result()
    with pytest.raises(JobFailed) as failure:
        run_once(app, spark)
    told = str(failure.value)
    assert "records are gone before they were read" in told, told
    assert f"{topic}-0" in told, told
    assert "A new --checkpoint-dir starts with what is there" in told, told
