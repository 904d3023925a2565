"""A program that loads what most programs load: from topic to topic, with state and a function.

`headwater spark prepare` runs it, in a JVM that keeps the classes.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.cli.broker_process import BrokerProcess
from headwater.clients import ClusterAccess
from headwater.processes.temporary_folder import TemporaryFolder
from headwater.spark.jobs.job import Job
from headwater.spark.jvm_process import end_jvm
from headwater.spark.session import spark_session
from headwater.streams import App, tumbling

if TYPE_CHECKING:
    from pathlib import Path

_INPUTS = {"readings": '{"id": "a", "value": 1}', "units": '{"unit": "kW"}'}
_OUTPUTS = ("joined", "counts", "windows")
# Long enough for a machine that has much else to do, and for a JVM with much to write at its end.
_ENDED_WITHIN_S = 300.0


def main() -> int:
    """Run it, and return whether its JVM ended well."""
    with TemporaryFolder("classes") as folder, BrokerProcess(folder / "data", 0) as broker:
        _fill(broker.address)
        spark = spark_session("classes", conf={"spark.ui.enabled": "false"})
        job = Job(_program(broker.address, folder).plan(), once=True)
        job.start(spark)
        try:
            assert job.wait(_ENDED_WITHIN_S), job.progress()
        finally:
            job.stop()
            is_well = end_jvm(_ENDED_WITHIN_S)
    return 0 if is_well else 1


def _fill(servers: str) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    topics = [NewTopic(name, 1, 1) for name in (*_INPUTS, *_OUTPUTS)]
    for done in admin.create_topics(topics).values():
        done.result(60)
    producer = Producer(ClusterAccess(servers).producer())
    for topic, value in _INPUTS.items():
        producer.produce(topic, value, "k")
    producer.flush()


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


if __name__ == "__main__":
    sys.exit(main())
