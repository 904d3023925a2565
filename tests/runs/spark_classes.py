"""A program that loads what Spark's tests load: from topic to topic, with state and a function.

class_archive.py runs it, in a JVM that keeps the classes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer
from pyspark import SparkContext

from headwater.processes.temporary_folder import TemporaryFolder
from headwater.spark import jvm_process
from headwater.spark.jobs.job import Job
from headwater.spark.session import spark_session, stop_session
from headwater.streams import App, tumbling
from headwater.testing import Broker

if TYPE_CHECKING:
    from pathlib import Path

_ENDED_WITHIN_S = 300


def _program(servers: str, folder: Path) -> App:
    app = App(
        "classes",
        bootstrap_servers=servers,
        checkpoint_dir=folder / "checkpoint",
        guarantee="exactly_once",
    )
    readings = app.stream("readings", value_type="id string, value bigint")
    table = app.table("units", value_type="unit string")

    def doubled(value: dict[str, Any]) -> dict[str, Any]:
        return {"id": value["id"], "value": value["value"] * 2}

    readings.join(table, value="left.value", unit="right.unit").to("joined")
    mapped = readings.map_values(doubled, returns="id string, value bigint")
    mapped.group_by_key().count(emit="record").to_stream().to("counts")
    windows = readings.group_by_key().windowed_by(tumbling("10 seconds").grace("4 seconds"))
    windows.count().to_stream().to("windows")
    return app


def main() -> int:
    with Broker() as broker, TemporaryFolder("classes") as folder:
        topics = ("readings", "units")
        for topic in topics:
            broker.create_topic(topic)
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})
        for topic, value in zip(topics, ('{"id": "a", "value": 1}', '{"unit": "kW"}'), strict=True):
            producer.produce(topic, value, "k")
        producer.flush()
        del producer  # else it looks for its broker, and says so, when that is gone
        spark = spark_session("classes", conf={"spark.ui.enabled": "false"})
        job = Job(_program(broker.bootstrap_servers, folder).plan(), once=True)
        job.start(spark)
        try:
            assert job.wait(_ENDED_WITHIN_S), job.progress()
        finally:
            job.stop()
    # A JVM that does not end soon is killed, and this one has much to write.
    jvm_process._ENDED_WITHIN_S = _ENDED_WITHIN_S
    process: Any = SparkContext._gateway.proc  # type: ignore[union-attr]
    stop_session()
    return int(process.returncode)


if __name__ == "__main__":
    sys.exit(main())
