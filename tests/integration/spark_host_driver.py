"""A process with a host of jobs: its JVM starts once, is shared fairly, is killed and comes back.

spark_host_driver.py SERVERS TOPIC DIRECTORY
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from tests.integration.streams_topics import Topics
from tests.waiting import wait_for

from headwater.spark.jobs.host import JobHost
from headwater.spark.jobs.status import JobState
from headwater.spark.session import SessionError
from headwater.spark.shared_session import SharedSession
from headwater.streams import App

if TYPE_CHECKING:
    from headwater.plan.plan import Plan

SLOTS = 2
BACKLOG = 30
"""Partitions, of which each has one record that takes a while."""
ASKING = 5


def jvms() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if "java" in child.name()]


def starts_once(session: SharedSession) -> None:
    """Check that all who ask are told why Spark did not start, and that it starts once later."""
    options = os.environ.get("SPARK_SUBMIT_OPTS")
    with ThreadPoolExecutor(ASKING) as threads:
        os.environ["SPARK_SUBMIT_OPTS"] = "-agentpath:/no/such/agent"
        asked = [threads.submit(session.get) for _ in range(ASKING)]
        assert {type(each.exception()) for each in asked} == {SessionError}
        assert jvms() == []
        del os.environ["SPARK_SUBMIT_OPTS"]
        if options is not None:
            os.environ["SPARK_SUBMIT_OPTS"] = options
        session.warm_up()
        asked = [threads.submit(session.get) for _ in range(ASKING)]
        assert len({id(each.result()) for each in asked}) == 1
    assert len(jvms()) == 1


def main(servers: str, topic: str, directory: Path) -> None:
    topics = Topics(servers)
    in_no_hurry = directory / "in-no-hurry"
    in_no_hurry.touch()

    def slowly(value: dict[str, Any]) -> int:
        if in_no_hurry.exists():
            time.sleep(1.0)
        return int(value["value"])

    slow, quick = f"{topic}-slow", f"{topic}-quick"
    topics.create(quick, f"{slow}-out", f"{quick}-out")
    topics.create(slow, partitions=BACKLOG)

    def plan(source: str, *, is_slow: bool = False) -> Plan:
        app = App(
            source,
            bootstrap_servers=servers,
            checkpoint_dir=directory / source,
            # A query in real-time mode would hold its slot, and wait for nobody.
            spark={"spark.headwater.realTime": "false"},
        )
        stream = app.stream(source, value_type="value bigint")
        if is_slow:
            stream.map_values(slowly, returns="bigint").to(f"{source}-out", value="json")
        else:
            stream.to(f"{source}-out")
        return app.plan()

    def written(to: str) -> int:
        return topics.end(f"{to}-out")

    session = SharedSession(
        "driver",
        conf={"spark.headwater.taskSlots": str(SLOTS), "spark.ui.enabled": "false"},
    )
    starts_once(session)
    host = JobHost(session)
    host.start("quick", plan(quick), owner="sql")
    for partition in range(BACKLOG):
        topics.produce(slow, "k", {"value": partition}, partition=partition)
    topics.flush()
    host.start("slow", plan(slow, is_slow=True), owner="connect")
    topics.read(f"{slow}-out", 1)
    topics.write(quick, {"value": 1})
    topics.read(f"{quick}-out", 1)
    # First in, first out would have let no task of another job begin before the last of these has.
    assert written(slow) < BACKLOG - SLOTS, "the backlog was waited for"
    print("fair", flush=True)

    in_no_hurry.unlink()  # what was waited for once is not waited for again
    (jvm,) = jvms()
    jvm.send_signal(signal.SIGKILL)
    revived = [("quick", JobState.RUNNING, 1), ("slow", JobState.RUNNING, 1)]
    wait_for(
        lambda: [(job.name, job.state, job.restarts) for job in host.jobs()],
        until=lambda found: found == revived,
    )
    for job in host.jobs():
        assert "Spark's JVM has ended" in job.error, job
    topics.write(quick, {"value": 2})
    topics.read(f"{quick}-out", 2)
    found: set[bytes] = set()
    while len(found) < BACKLOG:
        found = {each.value() for each in topics.read(f"{slow}-out", written(slow))}
    print("revived", flush=True)

    host.stop_all()
    assert {job.state for job in host.jobs()} == {JobState.STOPPED}
    assert jvms() == []
    left = [each.name for each in threading.enumerate() if each.name.startswith("headwater")]
    assert left == [], left
    print("stopped", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
