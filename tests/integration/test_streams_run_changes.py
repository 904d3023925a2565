"""Programs over a restart: aggregates that emit each change, and another guarantee than before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient
from tests.integration.streams_topics import Topics, app_of, run_once, topics
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.spark.checkpoints import CheckpointError
from headwater.spark.jobs.job import Job, JobFailed
from headwater.spark.jobs.reset import reset
from headwater.streams import tumbling

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.plan.plan import Guarantee
    from headwater.streams import App

__all__ = ["spark", "topics"]


def test_each_change_comes_and_counts_go_on_after_a_restart(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    everything, minutes = f"{topic}-all", f"{topic}-minutes"

    def program() -> App:
        app = app_of(topics, tmp_path, emit="record")
        grouped = app.stream(topic, value_type="value bigint").group_by_key()
        grouped.count().to_stream().to(everything)
        windowed = grouped.windowed_by(tumbling("1000 days"))
        windowed.count().to_stream().to(minutes)
        return app

    for already in (0, 3):
        job = Job(program().plan())
        job.start(spark)
        try:
            topics.write(topic, *({"value": value} for value in range(3)))
            for output in (everything, minutes):
                wanted = range(already + 1, already + 4)
                assert changes(topics, output, wanted[-1])[-3:] == [*wanted]
            wait_for(
                job.progress,
                until=lambda queries: {each.state for each in queries} == {"real-time"},
            )
        finally:
            job.stop()
        # What real-time mode left unfinished is finished by micro-batches, and the other way round.
        run_once(program(), spark)


def test_a_reset_forgets_progress_and_internal_topics_and_nothing_else(
    topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic, f"{topic}-by-repartition", f"{topic}-counts", f"other-{topic}-repartition")
    app = app_of(topics, tmp_path, topic)
    counts = app.stream(topic, value_type="value bigint").group_by_key().count().to_stream()
    counts.group_by("count").count(name="by").to_stream().to(f"{topic}-counts")
    checkpoint = tmp_path / "checkpoint"
    offsets = checkpoint / "queries" / "by" / "offsets"
    offsets.mkdir(parents=True)
    (offsets / "0").touch()
    assert reset(app.plan()) == [f"{topic}-by-repartition"]
    assert [each.name for each in checkpoint.iterdir()] == ["lock"]
    left = AdminClient({"bootstrap.servers": topics.servers}).list_topics(timeout=30).topics
    assert {topic, f"{topic}-counts", f"other-{topic}-repartition"} <= set(left)
    assert f"{topic}-by-repartition" not in left
    assert reset(app.plan()) == []


@pytest.mark.parametrize(
    ("old", "new"), [("at_least_once", "exactly_once"), ("exactly_once", "at_least_once")]
)
def test_another_guarantee_goes_on_or_is_refused_before_the_start(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path, old: Guarantee, new: Guarantee
) -> None:
    topics.create(topic)

    def program(guarantee: Guarantee, *, counts: bool = False) -> App:
        name = "counts" if counts else "copies"
        app = app_of(topics, tmp_path / name, name, guarantee=guarantee)
        stream = app.stream(topic, value_type="value bigint")
        if counts:
            windows = stream.group_by_key().windowed_by(tumbling("1000 days"))
            windows.count().to_stream().to(f"{topic}-counts")
        else:
            stream.filter("value >= 0").to(f"{topic}-copies")
        return app

    topics.write(topic, {"value": 0})
    run_once(program(old, counts=True), spark)
    with pytest.raises(
        CheckpointError, match=rf"_changes.py:\d+: this aggregate .*Go back to '{old}"
    ):
        Job(program(new, counts=True).plan()).prepare()
    for number, guarantee in enumerate((old, new, new), start=1):
        run_once(program(guarantee), spark)
        topics.write(topic, {"value": number})
    copies = [json.loads(each.value())["value"] for each in topics.read(f"{topic}-copies", 3)]
    assert copies == [0, 1, 2]


def test_lost_markers_stop_a_program_until_a_person_says_go_on(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)

    def program(**conf: str) -> App:
        app = app_of(topics, tmp_path, topic, guarantee="exactly_once", spark=conf)
        app.stream(topic, value_type="value bigint").to(f"{topic}-copies")
        return app

    topics.write(topic, {"value": 1})
    run_once(program(), spark)
    admin = AdminClient({"bootstrap.servers": topics.servers})
    listed = admin.list_consumer_groups().result().valid
    (group,) = [each.group_id for each in listed if each.group_id.startswith(topic)]
    admin.delete_consumer_groups([group])[group].result()
    topics.write(topic, {"value": 2})
    with pytest.raises(JobFailed, match=r"--conf spark\.headwater\.missingMarkers=continue"):
        run_once(program(), spark)
    run_once(program(**{"spark.headwater.missingMarkers": "continue"}), spark)
    copies = [json.loads(each.value())["value"] for each in topics.read(f"{topic}-copies", 2)]
    assert copies == [1, 2]


def changes(topics: Topics, topic: str, last: int) -> list[int]:
    """Return the counts in a topic, once the last one is there.

    At least once: those before may have come again after the restart.
    """
    counts: list[int] = []
    while not counts or counts[-1] != last:
        found = topics.read(topic, len(counts) + 1)
        counts = [json.loads(each.value())["count"] for each in found]
    return counts
