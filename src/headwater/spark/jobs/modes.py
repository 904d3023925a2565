"""In which of Spark's modes a query runs: where it starts, and when it changes over.

Real-time mode reads the sides of a join at the same time, each as fast as it can. A stream's
record would meet a table that is half read. So a query that keeps state first takes what is there
in micro-batches, which know the order in which it was written, and then changes over. A backlog is
also read faster that way.

Once it has changed over, a stream's record that follows its table's record at once may still
overtake it. So a join with a table stays in micro-batches, unless real-time mode is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from headwater.plan.splitting.roads import why_micro_batches

if TYPE_CHECKING:
    from headwater.plan.plan import ProgramSettings
    from headwater.plan.splitting.stages import Stage
    from headwater.spark.compiler.stages import StageQuery

Mode = Literal["once", "running", "catching up", "real-time"]
"""To the end of what is there, in micro-batches for ever, to the end and then on, in real time."""

# How long a real-time batch lasts: what is read again after a crash, and how often there is news.
_REAL_TIME_BATCH = "10 seconds"
# How long it lasts without a record. Where all readers are in one JVM, our source ends a batch that
# has records as soon as above, and so the one after it.
_IDLE_BATCH = "5 minutes"
# So much has come in the meantime that it is worth another round.
_LONG_ROUND_S = 10.0
_TRIGGER = "spark.headwater.trigger"


@dataclass(frozen=True)
class Modes:
    """Chooses for the queries of one program."""

    settings: ProgramSettings
    once: bool
    fits_real_time: bool = True
    """Whether all queries can have the task slots that real-time mode holds all the time."""

    def first(self, query: StageQuery, stage: Stage) -> Mode:
        """Return what a query starts in, the first time and after every failure."""
        if self.once:
            return "once"
        if self.why_micro_batches(query, stage) is not None:
            return "running"
        return "catching up" if stage.stateful else "real-time"

    def following(self, mode: Mode, lasted_s: float) -> Mode | None:
        """Return what a query goes on in that came to its end; None where that was all."""
        if mode != "catching up":
            return None
        return "catching up" if lasted_s > _LONG_ROUND_S else "real-time"

    def why_micro_batches(self, query: StageQuery, stage: Stage) -> str | None:
        """Return why a query does not run in real-time mode; None where it does."""
        if self.once:
            return "to the end of what is there"
        reason = why_micro_batches(stage, self.settings)
        if reason is not None:
            return reason
        if not query.may_be_real_time:
            return "what it writes is no topic of results"
        return None if self.fits_real_time else "too few task slots"


def trigger_of(mode: Mode, settings: ProgramSettings, *, one_jvm: bool) -> dict[str, Any]:
    """Return what Spark is told to make a query run in this mode.

    `one_jvm` tells whether tasks run where the driver does.
    """
    if mode == "real-time":
        return {"realTime": _IDLE_BATCH if one_jvm else _REAL_TIME_BATCH}
    if mode == "running":
        return {"processingTime": settings.spark.get(_TRIGGER, "0 seconds")}
    return {"availableNow": True}
