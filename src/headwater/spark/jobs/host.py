"""The host: many jobs for several services in one Spark session, which starts when it is needed."""

from __future__ import annotations

import queue
import threading
import time
from typing import TYPE_CHECKING, Self

from headwater.spark.jobs.back_off import BackOff
from headwater.spark.jobs.hosted_job import Engine, HostedJob
from headwater.spark.jobs.slots import TaskSlots
from headwater.spark.jobs.status import HAS_ENDED, JobState

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.plan.plan import Plan
    from headwater.spark.jobs.job import Job
    from headwater.spark.jobs.status import JobStatus
    from headwater.spark.shared_session import SharedSession


class NoSuchJob(Exception):  # noqa: N818 - what is the matter, as a caller reads it
    """The host has no job of this name; the message says which it has."""


class WrongState(Exception):  # noqa: N818 - what is the matter, as a caller reads it
    """A job cannot do this as it is; the message says what it can."""


class JobHost:
    """Runs jobs by name, each for its owner; any thread may call it.

        with JobHost(SharedSession("headwater")) as host:
            host.start("alerts", app.plan(), owner="sql")
            host.pause("alerts")
            host.resume("alerts")

    A job that fails harms no other. If Spark's JVM ends, it is started anew, and all jobs go on
    from their checkpoints.
    """

    def __init__(self, session: SharedSession) -> None:
        self.session = session
        self.slots = TaskSlots(0)
        self._jobs: dict[str, HostedJob] = {}
        self._lock = threading.Lock()
        self._engine = Engine(session, self.slots, lambda *ended: self._ended.put(ended))
        self._ended: queue.SimpleQueue[tuple[HostedJob, Job] | None] = queue.SimpleQueue()
        self._is_stopping = False
        self._back_off = BackOff()
        self._retry_at: float | None = None
        self._tender: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_all()

    def start(
        self,
        name: str,
        plan: Plan,
        *,
        owner: str,
        once: bool = False,
        falls_back: bool = False,
        notice: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """Check a plan, start Spark if need be, and run the plan; returns when its queries run.

        With `once`, the job ends when it has processed what is there. With `falls_back`, a job for
        which there are not enough task slots runs in micro-batches instead of being refused.

        Raises NotEnoughSlots, PlanError, CheckpointError and ClientError for a job that cannot run,
        SessionError and its like where Spark cannot. There is no such job then.
        """
        job = HostedJob(
            name, plan, self._engine, owner=owner, once=once, falls_back=falls_back, notice=notice
        )
        with job.lock:
            self._add(job)
            try:
                job.begin()
            except BaseException:
                job.halt(JobState.STOPPED)
                self._forget(name)
                raise

    def stop(self, name: str) -> None:
        """Stop a job: it gives back its task slots, and `restart` lets it go on."""
        job = self._find(name)
        with job.lock:
            if job.state not in HAS_ENDED:
                job.halt(JobState.STOPPED)

    def pause(self, name: str) -> None:
        """Stop a job's queries; it keeps its task slots, and `resume` lets it go on."""
        job = self._find(name)
        with job.lock:
            if job.state in HAS_ENDED:
                raise WrongState(f"the job {name!r} is {job.state}, and only what runs is paused")
            job.halt(JobState.PAUSED)

    def resume(self, name: str) -> None:
        """Let a paused job go on where it was; raises what `start` does, and it has failed then."""
        job = self._find(name)
        with job.lock:
            if job.state in HAS_ENDED:
                raise WrongState(
                    f"the job {name!r} is {job.state}, and only what is paused is resumed: restart "
                    "it instead"
                )
            if job.state is JobState.PAUSED:
                self._begin(job, JobState.STARTING)

    def restart(self, name: str) -> None:
        """Start a job again from its checkpoint, whatever it does; raises what `start` does."""
        job = self._find(name)
        with job.lock:
            job.halt(JobState.STOPPED)
            self._begin(job, JobState.RESTARTING)

    def remove(self, name: str) -> None:
        """Stop a job and forget it; its checkpoint stays."""
        self.stop(name)
        self._forget(name)

    def job(self, name: str) -> JobStatus:
        """Return how a job is."""
        return self._find(name).status()

    def jobs(self, owner: str | None = None) -> list[JobStatus]:
        """Return how all jobs are, or those of one owner, in the order of their starts."""
        return [job.status() for job in self._all() if owner in (None, job.owner)]

    def plans(self) -> list[tuple[JobStatus, Plan]]:
        """Return how all jobs are, each with what it computes."""
        return [(job.status(), job.plan) for job in self._all()]

    def wait(self, name: str, timeout_s: float | None = None) -> bool:
        """Wait for a job's end; returns whether that has come, and raises JobFailed."""
        return self._find(name).wait(timeout_s)

    def stop_all(self) -> None:
        """Stop all jobs, Spark, and its JVM; nothing can be started here any more."""
        with self._lock:
            self._is_stopping = True
        self._ended.put(None)
        if not self.session.is_running:
            self.session.stop()  # whoever waits for its start waits no longer
        jobs = self._all()
        for job in jobs:
            job.ask_to_stop()
        for job in jobs:
            with job.lock:
                if job.state not in HAS_ENDED:
                    job.halt(JobState.STOPPED)
        if self._tender is not None:
            self._tender.join()
        self.session.stop()

    def _add(self, job: HostedJob) -> None:
        with self._lock:
            if self._is_stopping:
                raise WrongState(f"the job {job.name!r} comes too late: all jobs are being stopped")
            there = self._jobs.get(job.name)
            if there is not None:
                raise WrongState(
                    f"there is a job {job.name!r} already ({there.state}, of {there.owner}): "
                    "remove it first, or choose another name"
                )
            self._jobs[job.name] = job
            if self._tender is None:
                self._tender = threading.Thread(
                    target=self._tend, name="headwater-jobs", daemon=True
                )
                self._tender.start()

    def _forget(self, name: str) -> None:
        with self._lock:
            self._jobs.pop(name, None)

    def _begin(self, job: HostedJob, as_state: JobState) -> None:
        try:
            job.begin(as_state)
        except Exception as failure:
            job.fail(failure)
            raise

    def _find(self, name: str) -> HostedJob:
        with self._lock:
            job = self._jobs.get(name)
            known = ", ".join(self._jobs) or "none"
        if job is None:
            raise NoSuchJob(f"there is no job {name!r}; there are: {known}")
        return job

    def _all(self) -> list[HostedJob]:
        with self._lock:
            return list(self._jobs.values())

    def _tend(self) -> None:
        """Look at jobs that have ended, and start those again that the JVM took down."""
        while not self._is_stopping:
            try:
                ended = self._ended.get(timeout=self._until_retry())
            except queue.Empty:
                self._start_lost()
                continue
            if ended is None:
                return
            job, run = ended
            with job.lock:
                if not self._is_stopping:
                    job.take_note(run)
            if self._retry_at is None and job.state is JobState.RESTARTING:
                self._retry_at = time.monotonic() + self._back_off.after(self.session.uptime_s)

    def _until_retry(self) -> float | None:
        return None if self._retry_at is None else max(0.0, self._retry_at - time.monotonic())

    def _start_lost(self) -> None:
        self._retry_at = None
        lost = [job for job in self._all() if job.state is JobState.RESTARTING]
        if not lost:
            return  # somebody has stopped them since
        try:
            self.session.get()
        except Exception as failure:  # told with each job, and tried again
            for job in lost:
                job.note(failure)
        else:
            for job in lost:
                job.begin_again()
        if any(job.state is JobState.RESTARTING for job in lost):
            self._retry_at = time.monotonic() + self._back_off.after(0.0)
