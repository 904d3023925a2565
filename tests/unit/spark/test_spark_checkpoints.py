"""A checkpoint belongs to one program, and to one run of it at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from headwater.plan.splitting.stages import split
from headwater.processes.whole_file import write_whole
from headwater.spark.checkpoints import Checkpoint, CheckpointError
from headwater.streams import App, col, tumbling

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.plan.plan import Guarantee, Plan


def plan(
    path: Path,
    name: str = "app",
    minutes: int = 1,
    limit: int = 5,
    guarantee: Guarantee = "at_least_once",
) -> Plan:
    app = App(name, checkpoint_dir=path, guarantee=guarantee)
    stream = app.stream("r", value_type="value bigint").filter(col("value") > limit)
    window = tumbling(f"{minutes} minutes")
    stream.group_by_key().windowed_by(window).count().to_stream().to("out")
    return app.plan()


def checkpoint_of(plan: Plan) -> Checkpoint:
    return Checkpoint(plan, split(plan))


def opened(checkpoint: Checkpoint) -> None:
    checkpoint.open()
    checkpoint.keep()
    checkpoint.close()


def test_a_program_finds_its_checkpoint_again_after_a_stateless_change(tmp_path: Path) -> None:
    opened(checkpoint_of(plan(tmp_path)))
    opened(checkpoint_of(plan(tmp_path, limit=6)))


def test_one_that_is_cleared_takes_any_program_of_its_name(tmp_path: Path) -> None:
    opened(checkpoint_of(plan(tmp_path)))
    (tmp_path / "queries" / "r" / "offsets").mkdir(parents=True)
    (tmp_path / "queries" / "r" / "offsets" / "0").touch()
    with pytest.raises(CheckpointError, match="belongs to the app 'app'"):
        checkpoint_of(plan(tmp_path, "other")).cleared().__enter__()
    changed = checkpoint_of(plan(tmp_path, minutes=2, guarantee="exactly_once"))
    with pytest.raises(CheckpointError, match="--reset"):
        changed.open()
    with changed.cleared(), pytest.raises(CheckpointError, match="in use"):
        checkpoint_of(plan(tmp_path)).open()
    assert changed.is_new
    opened(changed)


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    first = checkpoint_of(plan(tmp_path))
    first.open()
    with pytest.raises(CheckpointError, match=r"in use by the app 'app' \(process \d+\)"):
        checkpoint_of(plan(tmp_path)).open()
    first.close()
    opened(checkpoint_of(plan(tmp_path)))


def test_another_apps_checkpoint_is_refused(tmp_path: Path) -> None:
    opened(checkpoint_of(plan(tmp_path)))
    with pytest.raises(CheckpointError, match="belongs to the app 'app', and this one is 'other'"):
        checkpoint_of(plan(tmp_path, name="other")).open()


def test_a_changed_window_is_refused_and_nothing_is_held(tmp_path: Path) -> None:
    opened(checkpoint_of(plan(tmp_path)))
    with pytest.raises(CheckpointError, match=r"the program has changed .* start afresh"):
        checkpoint_of(plan(tmp_path, minutes=2)).open()
    opened(checkpoint_of(plan(tmp_path)))


def test_what_never_ran_does_not_count(tmp_path: Path) -> None:
    refused = checkpoint_of(plan(tmp_path, name="other", minutes=2))
    refused.open()
    refused.close()
    opened(checkpoint_of(plan(tmp_path)))


def test_another_cluster_is_refused(tmp_path: Path) -> None:
    opened(checkpoint_of(plan(tmp_path)))
    for cluster in (None, "first", None, "first"):
        checkpoint = checkpoint_of(plan(tmp_path))
        checkpoint.open()
        checkpoint.check_cluster(cluster)
        checkpoint.keep()
        checkpoint.close()
    with pytest.raises(CheckpointError, match=r"the cluster first, .* is second, .* start afresh"):
        checkpoint_of(plan(tmp_path)).check_cluster("second")


def batches(path: Path, query: str, *, finished: int, begun: int) -> None:
    """Leave what Spark notes of batches."""
    for log, count in (("commits", finished), ("offsets", begun)):
        folder = path / "queries" / query / log
        folder.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (folder / str(number)).touch()


def stateless(path: Path, guarantee: Guarantee) -> Checkpoint:
    app = App("app", checkpoint_dir=path, guarantee=guarantee)
    app.stream("r", value_type="value bigint").to("out")
    return checkpoint_of(app.plan())


@pytest.mark.parametrize(
    ("old", "new"), [("at_least_once", "exactly_once"), ("exactly_once", "at_least_once")]
)
def test_another_guarantee_is_refused_where_the_state_is_another(
    tmp_path: Path, old: Guarantee, new: Guarantee
) -> None:
    opened(checkpoint_of(plan(tmp_path, guarantee=old)))
    opened(checkpoint_of(plan(tmp_path, guarantee=new)))
    opened(checkpoint_of(plan(tmp_path, guarantee=old)))
    batches(tmp_path, "r-aggregate", finished=0, begun=1)
    with pytest.raises(CheckpointError) as refused:
        checkpoint_of(plan(tmp_path, guarantee=new)).open()
    message = str(refused.value)
    assert f"was written with guarantee='{old}', and cannot go on with '{new}'" in message
    assert re.search(r"unit/spark/test_spark_checkpoints.py:\d+: this aggregate keeps", message)
    assert f"Go back to '{old}', or give this app another name" in message
    opened(checkpoint_of(plan(tmp_path, guarantee=old)))


def test_only_the_batch_at_hand_when_exactly_once_begins_may_lack_its_markers(
    tmp_path: Path,
) -> None:
    opened(stateless(tmp_path, "at_least_once"))
    batches(tmp_path, "r", finished=3, begun=4)
    for finished, is_first in ((3, True), (3, True), (4, False)):
        batches(tmp_path, "r", finished=finished, begun=4)
        checkpoint = stateless(tmp_path, "exactly_once")
        opened(checkpoint)
        assert checkpoint.is_first_of_guarantee("r") == is_first
        assert not checkpoint.is_first_of_guarantee("another")


def test_markers_are_missed_where_exactly_once_was_from_the_start(tmp_path: Path) -> None:
    opened(stateless(tmp_path, "exactly_once"))
    batches(tmp_path, "r", finished=1, begun=2)
    checkpoint = stateless(tmp_path, "exactly_once")
    opened(checkpoint)
    assert not checkpoint.is_first_of_guarantee("r")


def test_a_file_that_could_not_be_written_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "half, and then \ud800")
    assert path.read_text() == "old"
    write_whole(path, "new")
    assert path.read_text() == "new"
