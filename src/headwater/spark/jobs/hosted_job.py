"""One job of the host: the same plan over all its runs, paused, resumed and started again."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.spark.jobs.slots import NotEnoughSlots
from headwater.spark.jobs.status import HAS_ENDED, JobState, JobStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from headwater.plan.plan import Plan
    from headwater.spark.jobs.job import Job
    from headwater.spark.jobs.slots import TaskSlots
    from headwater.spark.shared_session import SharedSession

# Settings of a program's own; the others are the session's, which all share.
_OWN_SETTINGS = "spark.headwater."


@dataclass(frozen=True)
class Engine:
    """What the jobs of a host share."""

    session: SharedSession
    slots: TaskSlots
    on_end: Callable[[HostedJob, Job], None]
    """Called when a run has ended, by itself or stopped, from a thread of that run."""


class HostedJob:
    """A plan that runs, ran or will run again; whoever commands it holds `lock` meanwhile."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        engine: Engine,
        *,
        owner: str,
        once: bool,
        falls_back: bool,
        notice: Callable[[str], None],
    ) -> None:
        self.name = name
        self.owner = owner
        self.plan = plan
        self.lock = threading.RLock()
        self._engine = engine
        self._once = once
        self._falls_back = falls_back
        self._notice = notice
        self._job: Job | None = None
        self._restarts = 0
        self._error = ("", "")
        self._state = JobState.STARTING
        self._since = datetime.now(UTC)
        self._changed = threading.Condition()

    @property
    def state(self) -> JobState:
        """What it does, as far as the host knows: its queries may be restarting by themselves."""
        return self._state

    def status(self) -> JobStatus:
        """Return how it is."""
        job, state = self._job, self._state
        progress = () if job is None else job.progress()
        if state is JobState.RUNNING and any(query.state == "waiting" for query in progress):
            state = JobState.RESTARTING
        error, detail = self._error
        if job is not None and self._state is JobState.RUNNING and job.last_failure is not None:
            error, detail = job.last_failure.reason, job.last_failure.detail
        holding = self._engine.slots.holdings.get(self.name)
        return JobStatus(
            self.name,
            self.owner,
            state,
            self._since,
            self._restarts + sum(query.restarts for query in progress),
            0 if holding is None else holding.slots,
            error,
            detail,
            progress,
        )

    def begin(self, as_state: JobState = JobState.STARTING) -> None:
        """Check it, and start it from its checkpoint; whatever is raised, nothing of it runs."""
        # Only now: a host without a job does without Spark's Python.
        from headwater.spark.jobs.job import Job
        from headwater.spark.session import task_slots

        self._becomes(as_state)
        job = Job(
            self.plan, once=self._once, notice=self._notice, on_end=self._ended, pool=self.name
        )
        session = self._engine.session
        try:
            job.prepare()
            if not session.is_running:
                self._notice("starting Spark")
            spark = session.get()
            _check_settings(self.plan, spark)
            self._engine.slots.total = task_slots(spark)
            job.start(spark, self._admit)
        except BaseException:
            job.stop()
            raise
        before, self._job = self._job, job
        if before is not None:
            self._restarts += 1 + sum(query.restarts for query in before.progress())
        self._becomes(JobState.RUNNING)

    def begin_again(self) -> None:
        """Start it where the JVM took it down, unless somebody has stopped it since."""
        from headwater.spark.checkpoints import CheckpointError

        with self.lock:
            if self._state is not JobState.RESTARTING:
                return
            try:
                self.begin(JobState.RESTARTING)
            except (CheckpointError, NotEnoughSlots, PlanError) as refusal:
                self.fail(refusal)
            except Exception as failure:  # a broker that is away, or the JVM again: once more
                self.note(failure)

    def ask_to_stop(self) -> None:
        """Begin to stop, and do not wait for it."""
        if self._job is not None:
            self._job.ask_to_stop()

    def halt(self, state: JobState) -> None:
        """Stop its queries; all but a paused job give their task slots back."""
        if self._job is not None:
            self._job.stop()
            if self._job.last_failure is not None:
                self._error = (self._job.last_failure.reason, self._job.last_failure.detail)
        if state is not JobState.PAUSED:
            self._engine.slots.release(self.name)
        self._becomes(state)

    def take_note(self, job: Job) -> None:
        """See how a run has ended that nobody has stopped."""
        from headwater.spark.jobs.job import JobFailed

        if self._job is not job or self._state is not JobState.RUNNING:
            return
        job.stop()
        try:
            job.wait(0)
        except JobFailed as failed:
            is_lost = failed.failure.is_end_of_jvm or not self._engine.session.is_running
            # Whoever waits for the end of what is there tries again himself, or has a scheduler.
            if is_lost and not self._once:
                self.note(failed)
                self._becomes(JobState.RESTARTING)
            else:
                self.fail(failed)
        else:
            self.halt(JobState.FINISHED)

    def note(self, failure: Exception) -> None:
        """Keep what went wrong, and tell it."""
        self._keep(failure)
        self._notice(self._error[0])

    def fail(self, failure: Exception) -> None:
        """Give up, for this reason."""
        self._keep(failure)
        self._engine.slots.release(self.name)
        self._becomes(JobState.FAILED)

    def wait(self, timeout_s: float | None) -> bool:
        """Wait for its end; returns whether that has come, and raises JobFailed."""
        with self._changed:
            has_ended = self._changed.wait_for(lambda: self._state in HAS_ENDED, timeout_s)
        if self._state is JobState.FAILED:
            from headwater.spark.jobs.job import JobFailed

            raise JobFailed(self._error[0])
        return has_ended

    def _keep(self, failure: Exception) -> None:
        from headwater.spark.jobs.job import JobFailed

        detail = failure.failure.detail if isinstance(failure, JobFailed) else repr(failure)
        self._error = (next(iter(str(failure).splitlines()), type(failure).__name__), detail)

    def _admit(self, needed: int) -> bool:
        try:
            self._engine.slots.take(self.name, self.owner, needed)
        except NotEnoughSlots as refusal:
            if not self._falls_back:
                raise
            self._notice(f"micro-batches instead of real-time mode: {refusal}")
            return False
        return True

    def _ended(self, job: Job) -> None:
        self._engine.on_end(self, job)

    def _becomes(self, state: JobState) -> None:
        with self._changed:
            if state is not self._state:
                self._state, self._since = state, datetime.now(UTC)
            self._changed.notify_all()


def _check_settings(plan: Plan, spark: SparkSession) -> None:
    """Refuse what one of many jobs cannot have: settings that the session has otherwise."""
    for name, value in plan.settings.spark.items():
        now = spark.conf.get(name, None)
        if not name.startswith(_OWN_SETTINGS) and now != value:
            has = "does not have it" if now is None else f"has {now}"
            raise PlanError(
                f"the program sets {name}={value}, and the Spark session that all jobs share "
                f"{has}: set it for the session, or leave it out"
            )
