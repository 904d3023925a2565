"""`--master`: programs, and the queries of a SQL server, on a Spark cluster of processes."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.integration.streams_topics import Topics
from tests.spark_cluster import SparkCluster
from tests.sql_process import EARLIEST, SqlProcess
from tests.waiting import wait_for

from headwater.spark.class_archive import SHORT_LIVED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PROGRAM = """
from headwater.streams import App, col
from levels import level

app = App("alerts", guarantee="exactly_once")
units = app.table("TOPIC-units", value_type="unit string")
readings = app.stream("TOPIC", value_type="value bigint")
known = readings.filter(col("value") > 5).left_join(units, unit="unit", value="value")
known.map_values(lambda value: f"{level(value['value'])} {value['unit']}", returns="string").to(
    "TOPIC-alerts"
)
"""
LEVELS = """
def level(value: int) -> str:
    return "high" if value > 10 else "low"
"""
# As small as an executor of Spark's may be.
SIZE = ("spark.executor.memory=512m", "spark.driver.memory=512m", "spark.executor.cores=2")
ADDRESS = ("spark.driver.host=127.0.0.1", "spark.driver.bindAddress=127.0.0.1")
OPTIONS = (f"spark.executor.extraJavaOptions={' '.join(SHORT_LIVED)}",)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    with SparkCluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


def test_a_program_runs_on_a_cluster(
    broker: BrokerProcess, topic: str, tmp_path: Path, cluster: SparkCluster
) -> None:
    topics = Topics(broker.bootstrap_servers)
    topics.create(topic, f"{topic}-units")
    topics.write(f"{topic}-units", {"unit": "kW"})
    topics.write(topic, *({"value": value} for value in (1, 7, 12)))
    path = tmp_path / "alerts.py"
    path.write_text(PROGRAM.replace("TOPIC", topic))
    (tmp_path / "levels.py").write_text(LEVELS)
    settings = [part for each in (*SIZE, *ADDRESS, *OPTIONS) for part in ("--conf", each)]
    run = subprocess.run(
        [
            *(sys.executable, "-m", "headwater", "run", str(path), "--once"),
            *("--master", cluster.master, *settings),
            *("--bootstrap-server", broker.bootstrap_servers),
            *("--checkpoint-dir", str(tmp_path / "checkpoint")),
        ],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    values = [each.value().decode() for each in topics.read(f"{topic}-alerts", 2)]
    assert values == ["low kW", "high kW"]


def test_a_sql_server_runs_its_queries_on_a_cluster(
    broker: BrokerProcess, topic: str, tmp_path: Path, cluster: SparkCluster
) -> None:
    before = cluster.applications
    settings = [part for each in (*SIZE, *ADDRESS, *OPTIONS) for part in ("--spark", each)]
    server = SqlProcess(
        broker.bootstrap_servers, tmp_path, ["--master", cluster.master, *settings], "cluster_"
    ).start()
    try:
        server.run(
            "CREATE STREAM orders (id STRING KEY, amount INT) "
            f"WITH (kafka_topic='{topic}', value_format='JSON', partitions=1);"
            "INSERT INTO orders VALUES ('a', 5); INSERT INTO orders VALUES ('a', 2);"
            f"CREATE TABLE totals WITH (kafka_topic='{topic}-totals') AS "
            "SELECT id, SUM(amount) AS total FROM orders GROUP BY id;",
            **EARLIEST,
        )
        wait_for(
            lambda: server.select("SELECT total FROM totals WHERE id = 'a';") == [[7]],
            "the total of both orders",
        )
        assert cluster.applications == before + 1
    finally:
        server.stop()
