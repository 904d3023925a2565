"""A checkpoint belongs to one program, and to one run of it at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.spark.checkpoints import Checkpoint, CheckpointError
from headwater.streams import App, col, tumbling

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.plan.plan import Plan


def plan(path: Path, name: str = "app", minutes: int = 1, limit: int = 5) -> Plan:
    app = App(name, checkpoint_dir=path)
    stream = app.stream("r", value_type="value bigint").filter(col("value") > limit)
    window = tumbling(f"{minutes} minutes")
    stream.group_by_key().windowed_by(window).count().to_stream().to("out")
    return app.plan()


def opened(checkpoint: Checkpoint) -> None:
    checkpoint.open()
    checkpoint.keep()
    checkpoint.close()


def test_a_program_finds_its_checkpoint_again_after_a_stateless_change(tmp_path: Path) -> None:
    opened(Checkpoint(plan(tmp_path)))
    opened(Checkpoint(plan(tmp_path, limit=6)))


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    first = Checkpoint(plan(tmp_path))
    first.open()
    with pytest.raises(CheckpointError, match=r"in use by the app 'app' \(process \d+\)"):
        Checkpoint(plan(tmp_path)).open()
    first.close()
    opened(Checkpoint(plan(tmp_path)))


def test_another_apps_checkpoint_is_refused(tmp_path: Path) -> None:
    opened(Checkpoint(plan(tmp_path)))
    with pytest.raises(CheckpointError, match="belongs to the app 'app', and this one is 'other'"):
        Checkpoint(plan(tmp_path, name="other")).open()


def test_a_changed_window_is_refused_and_nothing_is_held(tmp_path: Path) -> None:
    opened(Checkpoint(plan(tmp_path)))
    with pytest.raises(CheckpointError, match=r"the program has changed .* start afresh"):
        Checkpoint(plan(tmp_path, minutes=2)).open()
    opened(Checkpoint(plan(tmp_path)))


def test_what_never_ran_does_not_count(tmp_path: Path) -> None:
    refused = Checkpoint(plan(tmp_path, name="other", minutes=2))
    refused.open()
    refused.close()
    opened(Checkpoint(plan(tmp_path)))


def test_another_cluster_is_refused(tmp_path: Path) -> None:
    opened(Checkpoint(plan(tmp_path)))
    for cluster in (None, "first", None, "first"):
        checkpoint = Checkpoint(plan(tmp_path))
        checkpoint.open()
        checkpoint.check_cluster(cluster)
        checkpoint.keep()
        checkpoint.close()
    with pytest.raises(CheckpointError, match=r"the cluster first, .* is second, .* start afresh"):
        Checkpoint(plan(tmp_path)).check_cluster("second")
