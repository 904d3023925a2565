"""Many jobs in one session: side by side, paused, restarted, refused, and each on its own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.streams_topics import Topics, topics
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.spark.jobs.host import JobHost, NoSuchJob, WrongState
from headwater.spark.jobs.job import JobFailed
from headwater.spark.jobs.slots import SPARE_SLOTS, NotEnoughSlots
from headwater.spark.jobs.status import JobState
from headwater.spark.session import task_slots
from headwater.spark.shared_session import SharedSession
from headwater.streams import App, PlanError, col

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.plan.plan import Plan
    from headwater.spark.jobs.status import JobStatus

__all__ = ["spark", "topics"]

READING = "id string, value bigint"
MICRO_BATCHES = {"spark.headwater.realTime": "false"}


class LentSession(SharedSession):
    """The session of all tests, which outlives a host."""

    def stop(self) -> None:
        self.abandon()


@pytest.fixture
def host(spark: SparkSession) -> Iterator[JobHost]:
    with JobHost(LentSession()) as running:
        yield running


class Programs:
    """Plans that copy what is above a limit from one topic to another."""

    def __init__(self, topics: Topics, directory: Path) -> None:
        self._topics = topics
        self._directory = directory

    def copy(self, topic: str, spark: dict[str, str] = MICRO_BATCHES, **source: Any) -> Plan:
        app = App(
            f"copy-{topic}",
            bootstrap_servers=self._topics.servers,
            checkpoint_dir=self._directory / topic,
            spark=spark,
        )
        stream = app.stream(topic, value_type=READING, **source)
        stream.filter(col("value") > 0).to(f"{topic}-out")
        return app.plan()


@pytest.fixture
def programs(topics: Topics, tmp_path: Path) -> Programs:
    return Programs(topics, tmp_path)


def values(topics: Topics, topic: str, count: int) -> list[int]:
    return [json.loads(each.value())["value"] for each in topics.read(f"{topic}-out", count)]


def values_until(topics: Topics, topic: str, last: int) -> list[int]:
    """Read up to a value; at least once, what was under way at a stop may come before it again."""
    found: list[int] = []
    while last not in found:
        found = values(topics, topic, len(found) + 1)
    return found


def in_state(host: JobHost, name: str, state: JobState) -> JobStatus:
    return wait_for(
        lambda: host.job(name), f"{name} becomes {state}", until=lambda job: job.state is state
    )


def test_jobs_run_side_by_side_and_fail_alone(
    host: JobHost, spark: SparkSession, topics: Topics, programs: Programs, topic: str
) -> None:
    good, bad = f"{topic}-good", f"{topic}-bad"
    topics.create(good, bad)
    host.start("good", programs.copy(good), owner="sql")
    host.start("bad", programs.copy(bad), owner="connect")
    assert [(job.name, job.owner, job.state) for job in host.jobs()] == [
        ("good", "sql", JobState.RUNNING),
        ("bad", "connect", JobState.RUNNING),
    ]
    assert [job.name for job in host.jobs("connect")] == ["bad"]
    for each in (good, bad):
        topics.write(each, {"id": "a", "value": 1})
        assert values(topics, each, 1) == [1]
    context: Any = spark.sparkContext
    for name in ("good", "bad"):
        assert context._jsc.sc().getPoolForName(name).isDefined(), "each has a pool of its own"
    assert context.getLocalProperty("spark.scheduler.pool") is None

    topics.write(bad, b"{rubbish")
    failed = in_state(host, "bad", JobState.FAILED)
    assert failed.error.startswith(f"{bad}: malformed record, {bad} [0] at offset 1, value: ")
    assert "\n" not in failed.error
    assert "MALFORMED_RECORD_IN_PARSING" in failed.error_detail
    with pytest.raises(JobFailed, match="malformed record"):
        host.wait("bad")
    topics.write(good, {"id": "a", "value": 2})
    assert values(topics, good, 2) == [1, 2]
    still = host.job("good")
    assert (still.state, still.error, still.restarts) == (JobState.RUNNING, "", 0)
    assert sum(query.rows for query in still.progress) >= 1


def test_a_paused_job_goes_on_without_loss(
    host: JobHost, topics: Topics, programs: Programs, topic: str
) -> None:
    topics.create(topic)
    host.start("job", programs.copy(topic, spark={}), owner="sql")
    assert host.job("job").slots == 1, "in real-time mode, a slot for the partition"
    topics.write(topic, {"id": "a", "value": 1})
    assert values(topics, topic, 1) == [1]
    host.pause("job")
    host.pause("job")
    paused = host.job("job")
    assert (paused.state, paused.slots) == (JobState.PAUSED, 1), "it keeps its place"
    assert {query.state for query in paused.progress} == {"stopped"}
    topics.write(topic, {"id": "a", "value": 2})
    host.resume("job")
    assert host.job("job").state is JobState.RUNNING
    topics.write(topic, {"id": "a", "value": 3})
    assert set(values_until(topics, topic, 3)) == {1, 2, 3}

    host.stop("job")
    stopped = host.job("job")
    assert (stopped.state, stopped.slots) == (JobState.STOPPED, 0)
    assert host.wait("job")
    for command in (host.pause, host.resume):
        with pytest.raises(WrongState, match="the job 'job' is stopped, and only what"):
            command("job")
    topics.write(topic, {"id": "a", "value": 4})
    host.restart("job")
    assert host.job("job").restarts == 2, "resumed once, restarted once"
    assert set(values_until(topics, topic, 4)) == {1, 2, 3, 4}
    host.remove("job")
    with pytest.raises(NoSuchJob, match="there is no job 'job'; there are: none"):
        host.job("job")


def test_what_does_not_fit_is_refused_and_says_why(
    host: JobHost, spark: SparkSession, topics: Topics, programs: Programs, topic: str
) -> None:
    wide, other = f"{topic}-wide", f"{topic}-other"
    partitions = task_slots(spark) - SPARE_SLOTS - 1
    topics.create(wide, partitions=partitions)
    topics.create(other, partitions=2)
    host.start("wide", programs.copy(wide, spark={}), owner="connect")
    assert (host.slots.free, host.job("wide").slots) == (1, partitions)
    with pytest.raises(NotEnoughSlots) as refused:
        host.start("other", programs.copy(other, spark={}), owner="sql")
    told = str(refused.value)
    assert "the job 'other' needs 2 task slots in real-time mode" in told
    assert f"1 of {task_slots(spark)} are free: 'wide' (of connect) holds {partitions}" in told
    assert f"at least {task_slots(spark) + 1} slots with spark.headwater.taskSlots" in told
    assert [job.name for job in host.jobs()] == ["wide"]

    notices: list[str] = []
    host.start(
        "other",
        programs.copy(other, spark={}),
        owner="sql",
        falls_back=True,
        notice=notices.append,
    )
    assert f"micro-batches instead of real-time mode: {told}" in notices
    (query,) = host.job("other").progress
    assert (query.state, host.job("other").slots) == ("running", 0)
    host.remove("other")
    host.stop("wide")
    host.start("other", programs.copy(other, spark={}), owner="sql")
    (query,) = host.job("other").progress
    assert (query.state, host.job("other").slots) == ("real-time", 2)


def test_commands_that_make_no_sense(
    host: JobHost, topics: Topics, programs: Programs, topic: str
) -> None:
    topics.create(topic)
    with pytest.raises(NoSuchJob, match="there is no job 'x'; there are: none"):
        host.stop("x")
    with pytest.raises(PlanError, match=r"sets spark\.driver\.memory=9g, and the Spark session"):
        host.start("x", programs.copy(topic, {"spark.driver.memory": "9g"}), owner="sql")
    assert host.jobs() == [], "what was refused is not there"
    host.start("x", programs.copy(topic), owner="sql")
    with pytest.raises(WrongState, match=r"a job 'x' already \(running, of sql\): remove it"):
        host.start("x", programs.copy(topic), owner="connect")
    host.stop_all()
    with pytest.raises(WrongState, match="all jobs are being stopped"):
        host.start("y", programs.copy(topic), owner="sql")


def test_a_job_to_the_end_of_what_is_there(
    host: JobHost, topics: Topics, programs: Programs, topic: str
) -> None:
    topics.create(topic)
    topics.write(topic, {"id": "a", "value": 1})
    host.start("once", programs.copy(topic), owner="sql", once=True)
    assert host.wait("once", 240)
    assert host.job("once").state is JobState.FINISHED
    assert values(topics, topic, 1) == [1]
