"""A program as if it had never run: its progress, its state and its internal topics are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.splitting.stages import split
from headwater.spark.checkpoints import Checkpoint
from headwater.spark.cluster import Cluster
from headwater.spark.progress_topic import ProgressTopic

if TYPE_CHECKING:
    from headwater.plan.plan import Plan


def reset(plan: Plan) -> list[str]:
    """Forget what a program has done; returns the internal topics that were deleted.

    What it has written stays. Raises CheckpointError while it runs.
    """
    checkpoint = Checkpoint(plan, split(plan))
    with checkpoint.cleared():
        progress = ProgressTopic(plan.settings.cluster.for_admin(), plan.name)
        progress.forget(progress.read())
        return Cluster(plan.settings.cluster).delete_internal(plan.name)
