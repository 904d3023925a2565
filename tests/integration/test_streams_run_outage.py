"""Jobs whose broker is killed and comes back: they go on by themselves, in either mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests.integration.streams_topics import Topics
from tests.spark_session import spark

from headwater.clients import ClusterAccess
from headwater.spark.cluster import Cluster
from headwater.spark.jobs.job import Job
from headwater.streams import App

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import StartBroker

__all__ = ["spark"]


@pytest.mark.timeout(600)
def test_jobs_go_on_when_their_broker_is_back(
    spark: SparkSession, start_broker: StartBroker, topic: str, tmp_path: Path
) -> None:
    broker = start_broker()
    topics = Topics(broker.bootstrap_servers)
    topics.create(topic)
    topics.write(topic, {"value": 1})
    jobs = []
    for guarantee in ("at_least_once", "exactly_once"):
        app = App(
            guarantee,
            bootstrap_servers=topics.servers,
            checkpoint_dir=tmp_path / guarantee,
            guarantee=guarantee,
        )
        app.stream(topic, value_type="value bigint").to(f"{topic}-{guarantee}")
        jobs.append(Job(app.plan()))
    try:
        for job in jobs:
            job.start(spark)
        for job in jobs:
            topics.read(f"{topic}-{job.plan.name}", 1)
        assert [job.progress()[0].state for job in jobs] == ["real-time", "running"]
        watcher = Cluster(ClusterAccess(topics.servers))
        broker.kill()
        assert watcher.behind({(topic, 0): 0}) is None, "nobody has answered for two seconds"
        broker.start()
        topics.write(topic, {"value": 2})
        for job in jobs:
            output = f"{topic}-{job.plan.name}"
            values: list[int] = []
            while 2 not in values:
                assert not job.wait(0), "it has ended"
                values = [
                    json.loads(each.value())["value"]
                    for each in topics.read(output, len(values) + 1)
                ]
            if job.plan.settings.guarantee == "exactly_once":
                assert values == [1, 2]
    finally:
        for job in jobs:
            job.stop()
