"""The jobs of persistent queries: a thread keeps what runs as the engine says it should."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.sql.errors import SqlError
from headwater.sql.server.queries.plans import query_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.spark.jobs.host import JobHost
    from headwater.spark.jobs.status import JobStatus
    from headwater.sql.server.config import SqlConfig
    from headwater.sql.server.queries.persistent_query import PersistentQuery

logger = logging.getLogger("headwater.sql")

OWNER = "sql"
_TRY_AGAIN_S = 5.0


@dataclass(frozen=True)
class QueryState:
    """How a query is, in ksqlDB's words, and what is the matter with it."""

    state: str
    error: str = ""


@dataclass
class _Job:
    """A query as it was started, or as it failed to."""

    query: PersistentQuery
    is_there: bool = False
    is_paused: bool = False
    error: str = ""
    is_final: bool = False
    retry_at: float = 0.0


class QueryJobs:
    """Starts, pauses, resumes and stops jobs, one after the other, so that nobody waits for Spark.

        jobs.want({"CSAS_BIG_1": query})  # returns at once
        jobs.state(query)  # and says later why it does not run, if it does not
        jobs.want({})
        jobs.wait_for_stops(40.0)

    A job that cannot start for now, since a broker is away for example, is tried again.
    """

    def __init__(self, host: JobHost, config: SqlConfig) -> None:
        self._host = host
        self._config = config
        self._wanted: Mapping[str, PersistentQuery] = {}
        self._jobs: dict[str, _Job] = {}
        self._changed = threading.Condition()
        self._number = 0  # of what was wanted last
        self._done = 0  # and of what was last brought about
        self._starting: str | None = None
        self._is_stopping = False
        self._thread = threading.Thread(target=self._work, name="sql-queries", daemon=True)

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self) -> None:
        """Stop to work; the host stops the jobs."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()

    def want(self, queries: Mapping[str, PersistentQuery]) -> None:
        """Say which queries should run from now on, and which of them are paused."""
        with self._changed:
            if queries != self._wanted:
                self._wanted = dict(queries)
                self._number += 1
                self._changed.notify_all()

    def wait_for_stops(self, timeout_s: float) -> bool:
        """Wait until nothing runs that should not, whatever still has to start."""
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._is_too_much() or self._is_stopping, timeout_s
            )

    def state(self, query: PersistentQuery) -> QueryState:
        """Return how a query is; one that another server runs is taken to run."""
        if query.is_paused:
            return QueryState("PAUSED")
        job = self._jobs.get(query.id)
        if job is None or not job.is_there:
            error = "" if job is None else job.error
            return QueryState("ERROR" if error else "RUNNING", error)
        status = self._status(query.id)
        if status is None:
            return QueryState("RUNNING")
        is_failed = status.state.value in ("failed", "stopped")
        return QueryState("ERROR" if is_failed else "RUNNING", status.error)

    def name(self, query_id: str) -> str:
        """Return the name of a query's job, which is that of ksqlDB's application too."""
        return f"_confluent-ksql-{self._config.service_id}query_{query_id}"

    def _status(self, query_id: str) -> JobStatus | None:
        from headwater.spark.jobs.host import NoSuchJob

        try:
            return self._host.job(self.name(query_id))
        except NoSuchJob:
            return None

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._is_stopping or self._number > self._done, self._until_retry()
                )
                if self._is_stopping:
                    return
                number, wanted = self._number, self._wanted
            self._bring_about(wanted)
            with self._changed:
                self._done = number
                self._changed.notify_all()

    def _until_retry(self) -> float | None:
        waiting = [job.retry_at for job in self._jobs.values() if job.error and not job.is_final]
        return max(0.0, min(waiting) - time.monotonic()) if waiting else None

    def _bring_about(self, wanted: Mapping[str, PersistentQuery]) -> None:
        for query_id, job in list(self._jobs.items()):
            query = wanted.get(query_id)
            if query is None or query.version != job.query.version:
                self._remove(query_id, job)
        for query_id in wanted:
            # Whoever was paused or ended meanwhile is not started first.
            with self._changed:
                query = self._wanted.get(query_id)
                if self._is_stopping:
                    return
                self._starting = query_id
            if query is not None:
                self._bring_to(query)
            with self._changed:
                self._starting = None
                self._changed.notify_all()

    def _is_too_much(self) -> bool:
        for query_id, job in self._jobs.items():
            query = self._wanted.get(query_id)
            is_running = (job.is_there and not job.is_paused) or self._starting == query_id
            if is_running and (query is None or query.is_paused):
                return True
        return False

    def _bring_to(self, query: PersistentQuery) -> None:
        job = self._jobs.get(query.id)
        if job is None:
            job = self._jobs[query.id] = _Job(query)
        is_waiting = job.is_final or time.monotonic() < job.retry_at
        try:
            if query.is_paused:
                if job.is_there and not job.is_paused:
                    self._host.pause(self.name(query.id))
                    job.is_paused = True
                job.error, job.is_final = "", False  # RESUME tries again what failed
            elif job.is_paused:
                job.is_paused = False
                self._host.resume(self.name(query.id))
            elif not job.is_there and not is_waiting:
                self._start(query)
                job.is_there, job.error = True, ""
        except Exception as failure:
            job.error = next(iter(str(failure).splitlines()), type(failure).__name__)
            job.is_final = _is_final(failure)
            job.retry_at = time.monotonic() + _TRY_AGAIN_S
            logger.warning("query %s does not run: %s", query.id, job.error)

    def _start(self, query: PersistentQuery) -> None:
        name = self.name(query.id)
        checkpoint = self._config.checkpoints / query.id
        plan = query_plan(name, query.stored, query.properties, self._config, checkpoint)
        logger.info("starting query %s", query.id)
        self._host.start(name, plan, owner=OWNER, falls_back=True, notice=_noting(query.id))

    def _remove(self, query_id: str, job: _Job) -> None:
        if not job.is_there:
            del self._jobs[query_id]
            return
        try:
            self._host.remove(self.name(query_id))
            logger.info("stopped query %s", query_id)
        except Exception:
            logger.exception("query %s does not stop as it should", query_id)
        with self._changed:
            del self._jobs[query_id]
            self._changed.notify_all()


def _is_final(failure: Exception) -> bool:
    """Return whether trying again would not help."""
    from headwater.spark.checkpoints import CheckpointError

    return isinstance(failure, PlanError | SqlError | CheckpointError)


def _noting(query_id: str) -> Callable[[str], None]:
    def note(line: str) -> None:
        logger.info("query %s: %s", query_id, line)

    return note
