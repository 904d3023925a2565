"""A connector's run: opened anew after a failure, and quietly within the time for retries."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tests.waiting import HUNG_AFTER_S, wait_for

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.worker.progress import BatchCounts, Progress
from headwater.connect.worker.run import ConnectorRun, RetrySettings

if TYPE_CHECKING:
    from headwater.connect.worker.run import Task
    from headwater.connect.worker.status_state import TaskState


class Failing:
    """Fails a number of times, and then runs."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.closed = 0

    def open(self, _progress: Progress) -> Task:
        return self

    def step(self) -> float:
        if self.left:
            self.left -= 1
            raise ConnectorError("not today")
        return 0.01

    def close(self) -> None:
        self.closed += 1


def started(task: Failing, retry: RetrySettings) -> tuple[ConnectorRun, list[str]]:
    states: list[str] = []
    ended = threading.Event()

    def tell(state: TaskState, trace: str | None) -> None:
        states.append(f"{state}: {trace.splitlines()[0]}" if trace else str(state))

    run = ConnectorRun("c", {}, task.open, retry, tell, ended.set)
    run.start()
    return run, states


def test_it_fails_and_is_opened_anew() -> None:
    task = Failing(1)
    run, states = started(task, RetrySettings(0, 1))
    wait_for(lambda: states[-1:] == ["RUNNING"] and len(states) > 1)
    run.ask_to_stop()
    run.join(HUNG_AFTER_S)
    assert states == ["RUNNING", "FAILED: not today", "RESTARTING", "RUNNING"]
    assert run.progress.restarts == 1
    assert run.progress.last_error == "not today"
    assert task.closed == 2


def test_within_the_time_for_retries_nobody_is_told() -> None:
    task = Failing(2)
    run, states = started(task, RetrySettings(-1, 0.01))
    wait_for(lambda: not task.left)
    run.ask_to_stop()
    run.join(HUNG_AFTER_S)
    assert states == ["RUNNING"]
    assert run.progress.last_error == ""


def test_one_batch_for_ever_is_stalled() -> None:
    progress = Progress()
    assert not progress.is_stalled(-1)
    progress.begin()
    assert progress.is_stalled(-1)
    progress.end()
    progress.add(BatchCounts(read=5, written=3, failed=1))
    summary = progress.summary(60)
    assert (summary["rows_filtered"], summary["stalled"]) == (1, False)
