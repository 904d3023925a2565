"""A program whose JVM is killed: whoever waits for it is told."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewTopic

if TYPE_CHECKING:
    from pathlib import Path

    from tests.broker_process import BrokerProcess

PROGRAM = """
import os, signal, sys
from headwater.spark.jobs.job import Job, JobFailed
from headwater.spark.session import spark_session
from headwater.streams import App

servers, topic, checkpoint = sys.argv[1:]
app = App("killed", bootstrap_servers=servers, checkpoint_dir=checkpoint)
stream = app.stream(topic, value_type="value bigint")
stream.to(f"{topic}-1")
stream.filter("value > 0").to_files(f"{checkpoint}/files")
job = Job(app.plan())
spark = spark_session("killed")
job.start(spark)
os.kill(spark._jvm.ProcessHandle.current().pid(), signal.SIGKILL)
try:
    job.wait()
except JobFailed as failure:
    print("failed:", failure)
job.stop()
print({query.state for query in job.progress()})
"""


def test_waiting_ends_when_the_jvm_does(broker: BrokerProcess, topic: str, tmp_path: Path) -> None:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result()
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, broker.bootstrap_servers, topic, str(tmp_path / "c")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert "failed: Spark's JVM has ended" in ended.stdout, ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.returncode == 0
