"""A program that runs: all its queries, watched, restarted where they fail, stopped together."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.plan.checks import check_plan
from headwater.plan.errors import PlanError
from headwater.plan.splitting.stages import split
from headwater.serde import SerdeError
from headwater.spark.checkpoints import Checkpoint
from headwater.spark.cluster import Cluster
from headwater.spark.formats.schemas import Schemas
from headwater.spark.jobs.failures import Failure, failure_of
from headwater.spark.jobs.launcher import Launcher
from headwater.spark.jobs.malformed_record import find_malformed
from headwater.spark.jobs.pools import in_pool
from headwater.spark.jobs.progress import read_to
from headwater.spark.jobs.restoration import Restoration
from headwater.spark.jobs.slots import NotEnoughSlots, TaskSlots
from headwater.spark.session import task_slots

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    from headwater.plan.plan import Plan
    from headwater.spark.jobs.progress import QueryProgress
    from headwater.spark.jobs.running_query import RunningQuery

_LOOK_EVERY_S = 0.1
# Where nothing has happened for so long, a look is rarer: each asks the JVM.
_QUIET_AFTER_S, _LOOK_WHEN_QUIET_S = 10.0, 1.0


class JobFailed(Exception):  # noqa: N818 - what became of it, as a caller reads it
    """A query failed in a way that trying again does not help; the message says why."""

    def __init__(self, message: str, failure: Failure | None = None) -> None:
        super().__init__(message)
        self.failure = failure or Failure(message, may_pass=False, detail=message)
        """What Spark said, in full, and whether it was the JVM that ended."""


class Job:
    """Runs a plan: prepared without Spark, then started on a session.

    `notice` is called with a line whenever something happens that a user should know: a topic was
    made, a query failed and is started again. `on_end` is called when it has ended by itself or was
    stopped, from a thread of the job's own. Its tasks are in a pool of Spark's fair scheduler, by
    the program's name unless another is given.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        once: bool = False,
        notice: Callable[[str], None] = lambda _line: None,
        on_end: Callable[[Job], None] = lambda _job: None,
        pool: str | None = None,
    ) -> None:
        self.plan = plan
        self.once = once
        self.last_failure: Failure | None = None
        """What was the matter the last time that a query failed, now or before."""
        self._notice = notice
        self._on_end = on_end
        self._pool = pool or plan.name
        self._stages = split(plan)
        self._checkpoint = Checkpoint(plan, self._stages)
        self._schemas = Schemas(plan.settings.registry)
        plan.settings.cluster.java()  # what Spark's clients cannot do is refused at once
        self._queries: dict[str, RunningQuery] = {}
        self._stopping = threading.Event()
        self._ended = threading.Event()
        self._failure: JobFailed | None = None
        self._watcher: threading.Thread | None = None
        self._partitions: dict[str, int] = {}
        self._cluster: Cluster | None = None
        self._launcher: Launcher | None = None

    def prepare(self) -> None:
        """Check all that can be checked without Spark; raises PlanError and CheckpointError."""
        check_plan(self.plan)
        if not self._checkpoint.needs_session:
            self._open_checkpoint()

    def _open_checkpoint(self) -> None:
        settings = self.plan.settings
        self._checkpoint.open()
        if self._checkpoint.copies_progress and not settings.from_topics:
            # An old copy would be worse than none.
            self.plan = replace(self.plan, settings=replace(settings, from_topics=True))
        try:
            cluster = Cluster(settings.cluster)
            self._checkpoint.check_cluster(cluster.id)
            if self._checkpoint.is_new:
                cluster.check_starts(self.plan)
            self._partitions, made = cluster.prepare(self.plan, self._stages)
            self._cluster = cluster
        except BaseException:
            self._checkpoint.close()
            raise
        if made:
            self._notice(f"created {'topics' if len(made) > 1 else 'topic'} {', '.join(made)}")

    def start(self, spark: SparkSession, admit: Callable[[int], bool] | None = None) -> None:
        """Start all queries; raises PlanError for what Spark refuses.

        `admit` is asked whether so many task slots may be held all the time, before anything runs;
        where they may not, all is done in micro-batches. It may raise.

        With the setting `spark.headwater.missingMarkers=continue`, exactly-once goes on where the
        markers of what was written have expired; see docs/exactly-once.md.
        """
        if self._cluster is None:
            check_plan(self.plan)
            self._open_checkpoint()
        self._launcher = Launcher(
            spark,
            self._stages,
            self.plan.settings,
            self._partitions,
            self._checkpoint,
            self._schemas,
            once=self.once,
            pool=self._pool,
        )
        try:
            # All at once: whoever asks for progress meanwhile goes through them.
            self._queries = self._launcher.queries()
            if self.plan.settings.from_topics and self._checkpoint.can_be_restored:
                self._restore(self._launcher)
            needed = self._launcher.slots_needed(self._queries.values())
            if needed and not (admit or self._alone_on(spark))(needed):
                self._launcher.keep_to_micro_batches()
            self._checkpoint.keep()
            self._launch_ready()
        except BaseException:
            self._stop_queries()
            self._checkpoint.close()
            raise
        self._watcher = threading.Thread(target=self._watch, name="headwater-job", daemon=True)
        self._watcher.start()

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end: of what is there, with `once`, else of a failure that stays.

        Returns whether it has ended; raises JobFailed.
        """
        ended = self._ended.wait(timeout_s)
        if self._failure is not None:
            raise self._failure
        return ended

    def ask_to_stop(self) -> None:
        """Begin to stop, and do not wait for it."""
        self._stopping.set()

    def stop(self) -> None:
        """Stop all queries; what they have not finished, they do after the next start."""
        self.ask_to_stop()
        if self._watcher is not None:
            self._watcher.join()
        self._checkpoint.close()

    def progress(self) -> tuple[QueryProgress, ...]:
        """Return how each query is doing."""
        return tuple(running.progress for running in self._queries.values())

    def _restore(self, launcher: Launcher) -> None:
        assert self._cluster is not None, "it was prepared"
        restoration = Restoration(
            self.plan, self._cluster, self._local_folder, launcher.rebuild, self._notice
        )
        with self._checkpoint.restoring():
            self._checkpoint.begin_anew(restoration.restore(self._queries))

    def _local_folder(self, query: str) -> Path:
        folder = self._checkpoint.of_query(query)
        assert isinstance(folder, Path), "--from-topics is refused with any other"
        return folder

    def _alone_on(self, spark: SparkSession) -> Callable[[int], bool]:
        """Admit where no other job is counted: this one may have all slots of the session."""

        def admit(needed: int) -> bool:
            try:
                TaskSlots(task_slots(spark)).take(self.plan.name, self.plan.name, needed)
            except NotEnoughSlots as refusal:
                self._notice(f"micro-batches instead of real-time mode: {refusal}")
                return False
            return True

        return admit

    def _launch_ready(self) -> None:
        """Start what can start: with `once`, a reader only after all that writes its topics."""
        assert self._launcher is not None, "it was started"
        for running in self._queries.values():
            if running.spark_query is None and not (self.once and self._has_writers(running)):
                self._launcher.launch(running)

    def _has_writers(self, reader: RunningQuery) -> bool:
        read = frozenset(reader.stage.topics_read)
        return any(
            not other.done and read.intersection(other.stage_topics)
            for other in self._queries.values()
            if other.stage is not reader.stage
        )

    def _watch(self) -> None:
        try:
            while not self._stopping.wait(self._look_again_s()):
                for running in self._queries.values():
                    self._look_at(running)
                if all(running.done for running in self._queries.values()):
                    break
                self._launch_ready()
        except JobFailed as failure:
            self._failure = failure
        except Exception as error:  # a thread has nobody to raise to: `wait` raises it
            self.last_failure = failure_of(error)
            self._failure = JobFailed(self.last_failure.reason, self.last_failure)
        finally:
            self._stop_queries()
            self._ended.set()
            self._on_end(self)

    def _look_again_s(self) -> float:
        quiet_since = max(running.changed for running in self._queries.values())
        is_quiet = time.monotonic() - quiet_since > _QUIET_AFTER_S and not self.once
        return _LOOK_WHEN_QUIET_S if is_quiet else _LOOK_EVERY_S

    def _look_at(self, running: RunningQuery) -> None:
        if running.restart_at is not None:
            if time.monotonic() >= running.restart_at:
                self._restart(running)
            return
        query = running.spark_query
        if query is None or running.done:
            return
        is_active = query.isActive
        report = running.take_reports()
        if report is not None and running.progress.state == "real-time":
            self._measure_lag(running, report)
        if is_active:
            return
        running.lasted_s = time.monotonic() - running.started
        error = query.exception()
        if error is None:
            self._go_on(running)
        else:
            self._failed(running, self._explained(running, failure_of(error)))

    def _go_on(self, running: RunningQuery) -> None:
        assert self._launcher is not None, "it was started"
        try:
            goes_on = self._launcher.go_on(running)
        except PlanError as refusal:
            failed = JobFailed(f"{running.query.name}: {refusal}")
            self.last_failure = failed.failure
            raise failed from refusal
        except Exception as error:  # whatever it is, it is told, and tried again
            self._failed(running, failure_of(error))
            return
        if not goes_on:
            running.done = True
            running.update(state="finished")

    def _measure_lag(self, running: RunningQuery, report: Mapping[str, Any]) -> None:
        """Ask the cluster: a real-time batch reports only what was there when it began."""
        assert self._cluster is not None, "it was prepared"
        lags = self._cluster.behind(read_to(report))
        if lags is not None:
            running.update(lag=sum(lags.values()), lags=lags)

    def _explained(self, running: RunningQuery, failure: Failure) -> Failure:
        """Find the malformed record that Spark's own message does not name."""
        if not failure.is_nameless:
            return failure
        assert self._launcher is not None, "it was started"
        try:
            with in_pool(self._launcher.spark, self._pool):
                found = find_malformed(
                    running.stage,
                    self._launcher.reader(batch=True),
                    self._checkpoint.of_query(running.query.name),
                    self._launcher.spark,
                    self._schemas,
                )
        except Exception as error:  # the search is a courtesy: what it is for must be told
            self._notice(f"the malformed record was not found: {failure_of(error).reason}")
            return failure
        return failure if found is None else replace(failure, reason=found)

    def _failed(self, running: RunningQuery, failure: Failure) -> None:
        name = running.query.name
        self.last_failure = failure
        if failure.new_schema is not None:
            try:
                known = self._schemas.learn(failure.new_schema)
            except SerdeError as error:
                failure = Failure(f"{failure.reason}, and {error}", may_pass=True)
            else:
                what = "read with it from now on" if known else "not in the registry"
                self._notice(f"{name}: {failure.reason}; {what}")
                self._schedule(running, 0.0, failure.reason)
                return
        if not failure.may_pass:
            running.update(state="failed", failure=failure.reason)
            raise JobFailed(f"{name}: {failure.reason}", failure)
        wait_s = running.back_off.after(running.lasted_s)
        self._notice(f"{name}: {failure.reason}; trying again in {wait_s:g} s")
        self._schedule(running, wait_s, failure.reason)

    def _schedule(self, running: RunningQuery, after_s: float, reason: str) -> None:
        running.restart_at = time.monotonic() + after_s
        running.lasted_s = 0.0
        restarts = running.progress.restarts + 1
        running.update(state="waiting", failure=reason, restarts=restarts)

    def _restart(self, running: RunningQuery) -> None:
        assert self._launcher is not None, "it was started"
        running.restart_at = None
        try:
            self._launcher.relaunch(running)
        except Exception as error:  # whatever it is, it is told, and tried again
            self._failed(running, failure_of(error))

    def _stop_queries(self) -> None:
        for running in self._queries.values():
            query = running.spark_query
            try:
                if query is not None and query.isActive:
                    query.stop()
            except Exception as error:  # one that cannot be stopped must not keep the others
                self._failure = self._failure or JobFailed(failure_of(error).reason)
            if running.progress.state not in ("failed", "finished"):
                running.update(state="stopped")
