"""A connector at work, in a thread of its own: opened, and opened anew after a failure."""

from __future__ import annotations

import logging
import threading
import time
import traceback
from typing import TYPE_CHECKING, NamedTuple, Protocol

from headwater.config import ConfigError
from headwater.connect.config_providers import hidden
from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.worker.offset_store import OffsetStoreError
from headwater.connect.worker.progress import Progress
from headwater.connect.worker.status_state import TaskState
from headwater.spark.jobs.back_off import BackOff

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

logger = logging.getLogger("headwater.connect")

_FIRST_RETRY_S = 0.3


class Task(Protocol):
    """A source or a sink that was opened."""

    def step(self) -> float:
        """Do what there is to do, one batch of it; returns in how many seconds to ask again."""

    def close(self) -> None:
        """Give up what it holds."""


class RetrySettings(NamedTuple):
    """For how long a batch that failed is tried again before the connector has failed."""

    timeout_s: float
    delay_max_s: float


class ConnectorRun:
    """One run of a connector, with the configuration that it has now.

    `open_task` opens it; `tell` is called, in the run's thread, with each new state and the full
    account of what went wrong. `ended` is called at the very end.
    """

    def __init__(
        self,
        name: str,
        config: Mapping[str, str],
        open_task: Callable[[Progress], Task],
        retry: RetrySettings,
        tell: Callable[[TaskState, str | None], None],
        ended: Callable[[], None],
    ) -> None:
        self.name = name
        self.config = dict(config)
        self.progress = Progress()
        self.state = TaskState.UNASSIGNED
        self._open_task = open_task
        self._retry = retry
        self._tell = tell
        self._ended = ended
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name=f"connect-{name}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    def ask_to_stop(self) -> None:
        """Let it end after the batch that it is at."""
        self._stopping.set()

    def join(self, timeout_s: float) -> None:
        """Wait for its end."""
        self._thread.join(timeout_s)

    def _work(self) -> None:
        back_off = BackOff()
        try:
            while not self._stopping.is_set():
                started = time.monotonic()
                try:
                    self._run_task()
                except Exception as failure:
                    self._fail(failure)
                    wait_s = back_off.after(time.monotonic() - started)
                    self.progress.restart_in_s = wait_s
                    if not self._stopping.wait(wait_s):
                        self.progress.restarts += 1
                        self._become(TaskState.RESTARTING)
        finally:
            self._ended()

    def _run_task(self) -> None:
        """Run until it is to stop; raises what failed once the time for retries is over."""
        failing_since: float | None = None
        delay_s = _FIRST_RETRY_S
        while not self._stopping.is_set():
            batches = self.progress.batches
            try:
                self._steps()
                return
            except Exception as failure:
                now = time.monotonic()
                if failing_since is None or self.progress.batches > batches:
                    failing_since, delay_s = now, _FIRST_RETRY_S
                timeout_s = self._retry.timeout_s
                if 0 <= timeout_s <= now - failing_since:
                    raise
                logger.warning("connector %s tries again: %s", self.name, self._line(failure))
                self._stopping.wait(delay_s)
                delay_s = min(delay_s * 2, self._retry.delay_max_s)

    def _steps(self) -> None:
        self.progress.begin()
        task = self._open_task(self.progress)
        try:
            self.progress.restart_in_s = None
            self._become(TaskState.RUNNING)
            while not self._stopping.is_set():
                self.progress.begin()
                wait_s = task.step()
                self.progress.end()
                if wait_s > 0:
                    self._stopping.wait(wait_s)
        finally:
            self.progress.end()
            task.close()

    def _fail(self, failure: Exception) -> None:
        line, trace = self._line(failure), traceback.format_exc()
        self.progress.last_error = line
        logger.error("connector %s failed: %s", self.name, line)
        self._become(TaskState.FAILED, f"{line}\n\n{hidden(trace, self.config)}")

    def _line(self, failure: Exception) -> str:
        if isinstance(failure, ConnectorError | ConfigError | OffsetStoreError):
            line = str(failure)
        else:
            from headwater.spark.jobs.failures import failure_of

            line = failure_of(failure).reason or type(failure).__name__
        return hidden(line.replace("\n", " "), self.config)

    def _become(self, state: TaskState, trace: str | None = None) -> None:
        if state is not self.state or trace is not None:
            self.state = state
            self._tell(state, trace)
