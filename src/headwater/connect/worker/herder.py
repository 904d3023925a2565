"""The herder: sees to it that connectors do what they are meant to, on the worker that leads."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from headwater.config import ConfigError
from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.worker.config_state import TargetState
from headwater.connect.worker.connector_spec import ConnectorSpec
from headwater.connect.worker.run import ConnectorRun, RetrySettings
from headwater.connect.worker.status_state import TaskState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from headwater.connect.worker.config import WorkerConfig
    from headwater.connect.worker.config_state import ConfigState, StoredConnector
    from headwater.connect.worker.progress import Progress
    from headwater.connect.worker.run import Task
    from headwater.connect.worker.status_log import StatusLog
    from headwater.topic_state.writer import Writer

    OpenTask = Callable[[ConnectorSpec, Progress, Callable[[Iterable[str]], None]], Task]

logger = logging.getLogger("headwater.connect")

_STOP_WITHIN_S = 45.0
# A lead that was claimed holds a little after the record that says so was read.
_LOOK_EVERY_S = 1.0
_MEANT = {TargetState.PAUSED: TaskState.PAUSED, TargetState.STOPPED: TaskState.STOPPED}


class Herder:
    """Starts and stops runs as configurations and the lead change; all of it on the event loop."""

    def __init__(
        self,
        config: WorkerConfig,
        state: ConfigState,
        statuses: StatusLog,
        open_task: OpenTask,
    ) -> None:
        self._config = config
        self._state = state
        self._statuses = statuses
        self._open_task = open_task
        self._writer: Writer | None = None
        self._runs: dict[str, ConnectorRun] = {}
        self._to_restart: set[str] = set()
        self._reported: dict[str, TaskState | None] = {}
        """What was last said of a connector; None: that it is gone."""
        self._woken = asyncio.Event()
        self._tending: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, writer: Writer) -> None:
        """Begin to look after connectors; `writer` knows who leads."""
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._tending = asyncio.create_task(self._tend())
        self.wake()

    async def stop(self) -> None:
        """End all runs after the batches that they are at."""
        if self._tending is not None:
            self._tending.cancel()
        for run in self._runs.values():
            run.ask_to_stop()
        for run in self._runs.values():
            await asyncio.to_thread(run.join, _STOP_WITHIN_S)

    def wake(self) -> None:
        """Look at what has changed, soon."""
        self._woken.set()

    def restart(self, name: str, *, only_failed: bool) -> None:
        """Open a connector anew, whatever it does."""
        run = self._runs.get(name)
        if run is None or not only_failed or run.state is TaskState.FAILED:
            self._to_restart.add(name)
            self.wake()

    def is_running(self, name: str) -> bool:
        """Whether a connector is at work here, be it at its last batch."""
        return name in self._runs

    def progress(self, name: str) -> Progress | None:
        """Return how far a connector is that runs here."""
        run = self._runs.get(name)
        return None if run is None else run.progress

    def runs(self) -> list[ConnectorRun]:
        """Return what runs here."""
        return list(self._runs.values())

    async def _tend(self) -> None:
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), _LOOK_EVERY_S)
            self._woken.clear()
            try:
                self._look()
            except Exception:
                logger.exception("connectors could not be looked after")

    def _look(self) -> None:
        assert self._writer is not None
        leads = self._writer.is_leader
        stored = self._state.connectors() if leads else {}
        for name, run in list(self._runs.items()):
            if not run.is_alive:
                del self._runs[name]
            elif _must_end(run, stored.get(name)) or name in self._to_restart:
                run.ask_to_stop()
                self._to_restart.discard(name)
        if not leads:
            self._reported.clear()
            return
        for name, connector in stored.items():
            if name in self._runs:
                continue
            if connector.target is TargetState.STARTED:
                self._begin(name, connector)
            else:
                self._report_meant(name, connector)
        for name in set(self._statuses.state.connectors) - set(stored) - set(self._runs):
            if self._reported.get(name, TaskState.UNASSIGNED) is not None:
                self._reported[name] = None
                self._statuses.forget(name)
        self._to_restart &= set(self._runs)

    def _begin(self, name: str, connector: StoredConnector) -> None:
        writer = self._writer
        assert writer is not None

        def leads() -> bool:
            return writer.is_leader

        def tell(state: TaskState, trace: str | None) -> None:
            self._on_loop(self._report, name, state, trace)

        def note_topics(topics: Iterable[str]) -> None:
            self._on_loop(self._statuses.note_topics, name, tuple(topics))

        def open_task(progress: Progress) -> Task:
            if not leads():  # to open it would take it away from whoever does
                raise ConnectorError("this worker does not lead any more")
            spec = ConnectorSpec.read(name, connector.config, self._config.converters)
            return self._open_task(spec, progress, note_topics)

        run = ConnectorRun(
            name,
            connector.config,
            open_task,
            self._retry(name, connector),
            tell,
            lambda: self._on_loop(self._collect, name),
        )
        self._runs[name] = run
        run.start()

    def _collect(self, name: str) -> None:
        run = self._runs.get(name)
        if run is not None:
            run.join(1.0)  # its last act was to say that it ends
        self.wake()

    def _retry(self, name: str, connector: StoredConnector) -> RetrySettings:
        try:
            spec = ConnectorSpec.read(name, connector.config, self._config.converters)
        except (ConfigError, ConnectorError):
            return RetrySettings(0, 1)  # it fails when it is opened, and says why
        timeout_ms = spec.common.integer("errors.retry.timeout")
        return RetrySettings(
            timeout_ms / 1000, spec.common.integer("errors.retry.delay.max.ms") / 1000
        )

    def _report(self, name: str, state: TaskState, trace: str | None) -> None:
        assert self._writer is not None
        if self._writer.is_leader and self._state.get(name) is not None:
            self._reported[name] = state
            self._statuses.report(name, state, self._writer.leadership.tenure.epoch, trace)

    def _report_meant(self, name: str, connector: StoredConnector) -> None:
        meant = _MEANT[connector.target]
        if self._reported.get(name) is not meant:
            self._report(name, meant, None)

    def _on_loop(self, callback: Callable[..., None], *arguments: object) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            logger.debug("the worker has stopped")


def _must_end(run: ConnectorRun, connector: StoredConnector | None) -> bool:
    if connector is None or connector.target is not TargetState.STARTED:
        return True
    return connector.config != run.config
