"""Keeps one service running: starts it when what it needs is healthy, watches it, restarts it."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.processes.child import describe_exit
from headwater.up.health import UnhealthyError
from headwater.up.misses import Misses
from headwater.up.process import ServiceProcess
from headwater.up.status import ServiceStatus, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.processes.guard import Guard
    from headwater.up.log_lines import LogLines
    from headwater.up.service import Service
    from headwater.up.timing import Timing


class StartFailedError(Exception):
    """A service ended before it was ever healthy: trying again would not help."""


class Keeper:
    """Runs one service over and over until it is cancelled; the process is then the caller's.

    A service that ends before it was healthy for the first time has a problem that somebody must
    solve: if it is essential, that is a StartFailedError. One that dies later, or answers no more,
    is started again, after a pause that doubles with each death in a row.
    """

    def __init__(
        self,
        service: Service,
        needed: Sequence[Keeper],
        log: LogLines,
        guard: Guard,
        timing: Timing,
    ) -> None:
        self.service = service
        self.status = ServiceStatus(service)
        self.is_healthy = asyncio.Event()
        self.process: ServiceProcess | None = None
        self._needed = needed
        self._log = log
        self._guard = guard
        self._timing = timing
        self._was_healthy = False

    async def run(self) -> None:
        """Keep it running; raises StartFailedError."""
        deaths = 0
        while True:
            await self._until_it_can_start()
            end = await self._run_once()
            self.status.ended(end.how)
            if not self.service.is_wanted():
                await self._until_wanted(end)
                deaths = 0
                continue
            if self.service.is_essential and not self._was_healthy:
                raise StartFailedError(f"{end.story}; its last lines say why")
            deaths = 1 if end.uptime_s > self._timing.fine_after_s else deaths + 1
            pause_s = self._timing.pause_s(deaths)
            self._log.say(f"{end.story}; starting it again in {pause_s:g} s")
            await asyncio.sleep(pause_s)
            self.status.restarts += 1

    async def _until_it_can_start(self) -> None:
        for keeper in self._needed:
            if keeper.service.is_wanted() and not keeper.is_healthy.is_set():
                self.status.becomes(State.WAITING, f"for {keeper.service.name}")
                await keeper.is_healthy.wait()

    async def _until_wanted(self, end: _End) -> None:
        self._log.say(f"{self.service.name} was stopped on purpose ({end.how})")
        self.status.becomes(State.STOPPED, "on purpose")
        while not self.service.is_wanted():  # noqa: ASYNC110 - another process changes its mind
            await asyncio.sleep(self._timing.look_while_starting_s)
        self._log.say(f"{self.service.name} is wanted again")

    async def _run_once(self) -> _End:
        name = self.service.name
        try:
            process = self.process = ServiceProcess(self.service, self._log, self._guard)
        except OSError as failure:
            how = f"{self.service.command[0]}: {failure.strerror}"
            if self.service.is_essential:
                raise StartFailedError(f"{name} cannot be started: {how}") from failure
            return _End(how, 0.0, f"{name} cannot be started: {how}")
        self.status.runs(process.pid)
        hung = await self._follow(process)
        how = describe_exit(await process.wait())
        if hung is not None:
            story = f"{name} was stopped ({how}), since it {hung}"
            how = f"{how}, since it {hung}"
        elif self._was_healthy:
            story = f"{name} died ({how}) after {process.uptime_s:.1f} s"
        else:
            story = f"{name} ended with {how} before it was ready"
        return _End(how, process.uptime_s, story)

    async def _follow(self, process: ServiceProcess) -> str | None:
        """Wait for the end of a process; one that hangs is ended, and what was seen is returned."""
        watch = asyncio.create_task(self._watch())
        ended = asyncio.create_task(process.wait())
        try:
            await asyncio.wait([watch, ended], return_when=asyncio.FIRST_COMPLETED)
            if not watch.done():
                return None
            hung = await watch  # an error that nobody foresaw comes out here; unseen it were a hang
            self._log.say(f"{self.service.name} {hung}; stopping it")
            await process.stop()
            return hung
        finally:
            self.is_healthy.clear()
            await cancel([watch, ended])

    async def _watch(self) -> str:
        """Look after a process for as long as it answers; returns how it failed to."""
        timing, service = self._timing, self.service
        misses = Misses(timing.look_every_s)
        has_answered = False
        said = time.monotonic()
        while misses.count < timing.restart_after_misses or not timing.restart_after_misses:
            try:
                await self._check()
            except UnhealthyError as failure:
                if self.is_healthy.is_set():
                    self.is_healthy.clear()
                    self._log.say(f"{service.name} runs but does not answer: {failure}")
                    said = time.monotonic()
                elif time.monotonic() - said > timing.say_still_starting_s:
                    self._log.say(f"still waiting for {service.name}: {failure}")
                    said = time.monotonic()
                if has_answered:
                    misses.add(failure)
                state = State.UNHEALTHY if has_answered else State.STARTING
                self.status.becomes(state, str(failure))
                await asyncio.sleep(timing.look_while_starting_s)
            else:
                misses.clear()
                has_answered = True
                self._note_health()
                await asyncio.sleep(timing.look_every_s)
        return str(misses)

    async def _check(self) -> None:
        for endpoint in self.service.endpoints:
            try:
                await endpoint.health.check(self._timing.answer_within_s)
            except UnhealthyError as failure:
                if endpoint.name == self.service.name:
                    raise
                raise type(failure)(f"{endpoint.name}: {failure}") from None

    def _note_health(self) -> None:
        if not self.is_healthy.is_set():
            if self._was_healthy:
                self._log.say(f"{self.service.name} is healthy again")
            elif self.status.restarts:
                self._log.say(f"{self.service.name} is healthy")
            self._was_healthy = True
            self.is_healthy.set()
            self.status.becomes(State.HEALTHY)


class _End(NamedTuple):
    """How a run of a service ended."""

    how: str
    uptime_s: float
    story: str


async def cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they are over."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
