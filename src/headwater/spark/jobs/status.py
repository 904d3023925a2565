"""How a job of the host is: its state, since when, what went wrong, and its queries' progress."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from headwater.spark.jobs.progress import QueryProgress


class JobState(StrEnum):
    """What a job does."""

    STARTING = "starting"
    RUNNING = "running"
    RESTARTING = "restarting"
    """A query failed, or Spark's JVM ended, and it is about to go on from its checkpoint."""
    PAUSED = "paused"
    """It keeps its task slots, so that it can go on at any time."""
    FAILED = "failed"
    """Trying again would not help."""
    STOPPED = "stopped"
    FINISHED = "finished"
    """It was to process what was there, and has."""


HAS_ENDED = frozenset({JobState.FAILED, JobState.STOPPED, JobState.FINISHED})


@dataclass(frozen=True)
class JobStatus:
    """A job as it was when somebody asked."""

    name: str
    owner: str
    state: JobState
    since: datetime
    restarts: int
    """How often it, or one of its queries, was started again."""
    slots: int
    """Task slots that it holds all the time, for real-time mode."""
    error: str
    """What went wrong last, in one line; empty where nothing has."""
    error_detail: str
    """The same in full, as Spark said it."""
    progress: tuple[QueryProgress, ...]
