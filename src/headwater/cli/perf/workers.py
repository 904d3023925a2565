"""Runs a workload in this process or in several, all started at the same moment."""

from __future__ import annotations

import multiprocessing
import signal
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from headwater.cli.errors import CommandError
from headwater.clients.connection import POLL_S
from headwater.clients.errors import ClientError, InvalidPropertiesError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection as Pipe
    from multiprocessing.synchronize import Barrier

Job = TypeVar("Job")
JobIn = TypeVar("JobIn", contravariant=True)

_TOGETHER_WITHIN_S = 60.0


class Outcome(NamedTuple):
    """What one worker did: counts, its own start and end, and latencies where it took them."""

    records: int
    size: int
    started: float
    ended: float
    latencies_ms: list[float]

    @classmethod
    def total(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """Add workers up; the time runs from the first start to the last end."""
        return cls(
            sum(outcome.records for outcome in outcomes),
            sum(outcome.size for outcome in outcomes),
            min(outcome.started for outcome in outcomes),
            max(outcome.ended for outcome in outcomes),
            sorted(latency for outcome in outcomes for latency in outcome.latencies_ms),
        )


class Workload(Protocol[JobIn]):
    """A picklable function: prepares, calls `ready` before it starts, and `report`s its count."""

    def __call__(
        self, job: JobIn, ready: Callable[[], object], report: Callable[[int], object]
    ) -> Outcome:
        """Do the job."""
        ...


def run_workers(
    workload: Workload[Job], jobs: Sequence[Job], report: Callable[[int], object]
) -> Outcome:
    """Run a job per process and add the outcomes up; a single job runs here, without a process."""
    if len(jobs) == 1:
        return workload(jobs[0], lambda: None, report)
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(jobs))
    workers = [_Worker(context, workload, job, barrier) for job in jobs]
    try:
        return Outcome.total(_collect(workers, report))
    finally:
        for worker in workers:
            worker.process.terminate()
            worker.process.join()


class _Worker(Generic[Job]):
    def __init__(self, context: Any, workload: Workload[Job], job: Job, barrier: Barrier) -> None:
        self.pipe, theirs = context.Pipe(duplex=False)
        self.done = 0
        self.process = context.Process(target=_work, args=(workload, job, barrier, theirs))
        self.process.start()
        theirs.close()


def _collect(workers: list[_Worker[Job]], report: Callable[[int], object]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    open_pipes = {worker.pipe: worker for worker in workers}
    while open_pipes:
        for pipe in wait(list(open_pipes), POLL_S):
            worker = open_pipes[pipe]
            try:
                message = worker.pipe.recv()
            except EOFError:
                raise CommandError("a worker process ended early; its message is above") from None
            if isinstance(message, int):
                worker.done = message
                report(sum(each.done for each in workers))
            elif isinstance(message, Outcome):
                outcomes.append(message)
                del open_pipes[worker.pipe]
            else:
                raise CommandError(str(message))
    return outcomes


def _work(workload: Workload[Job], job: Job, barrier: Barrier, pipe: Pipe) -> None:
    # Ctrl-C reaches the whole process group; the parent ends its workers itself, quietly.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        pipe.send(workload(job, lambda: barrier.wait(_TOGETHER_WITHIN_S), pipe.send))
    except (ClientError, CommandError, InvalidPropertiesError) as failure:
        barrier.abort()
        pipe.send(str(failure))
