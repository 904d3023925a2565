"""Starts services in order, watches them, restarts what died, and stops all in reverse order."""

from __future__ import annotations

import asyncio
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.processes.child import describe_exit
from headwater.processes.guard import Guard
from headwater.up.health import UnhealthyError
from headwater.up.process import ServiceProcess
from headwater.up.service import start_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.up.log_lines import LogLines
    from headwater.up.service import Service

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FAILED = 1


class StartFailedError(Exception):
    """A service ended before it was ever healthy: trying again would not help."""


@dataclass(frozen=True)
class Timing:
    """How often to look, and how long to wait before a service that died is started again."""

    look_every_s: float = 5.0
    look_while_starting_s: float = 0.05
    say_still_starting_s: float = 15.0
    first_pause_s: float = 0.5
    longest_pause_s: float = 30.0
    # A service that ran so long was fine: its next death is a first one again.
    fine_after_s: float = 60.0
    # How long the guard waits before it kills what a killed supervisor has left behind.
    guard_kills_after_s: float = 10.0

    def pause_s(self, deaths: int) -> float:
        """Return how long to wait after so many deaths in a row."""
        return min(self.first_pause_s * 2.0 ** (deaths - 1), self.longest_pause_s)


class Supervisor:
    """Runs services until a signal says stop.

    A service that ends before it was healthy for the first time has a problem that somebody must
    solve, so all is stopped again and the exit code is 1. A service that dies later is started
    again, after a pause that doubles with each death in a row.
    """

    def __init__(
        self,
        services: Sequence[Service],
        log: LogLines,
        *,
        on_ready: Callable[[], None] = lambda: None,
        timing: Timing | None = None,
    ) -> None:
        self._services = start_order(services)
        self._log = log
        self._on_ready = on_ready
        self._timing = timing or Timing()
        self._by_name = {service.name: service for service in self._services}
        self._healthy = {service.name: asyncio.Event() for service in self._services}
        self._were_healthy: set[str] = set()
        self._processes: dict[str, ServiceProcess] = {}
        self._signals: list[signal.Signals] = []
        self._stop = asyncio.Event()
        self._guard = Guard(self._timing.guard_kills_after_s)
        loop = asyncio.get_running_loop()
        log.on_reader_gone = lambda: loop.call_soon_threadsafe(self._stop.set)

    async def run(self) -> int:
        """Run until SIGINT, SIGTERM or SIGHUP and return the exit code.

        It is 0 after a clean stop, 1 if a service could not be started or had to be killed, and
        128 + n after a second signal n, which ends everything at once.
        """
        loop = asyncio.get_running_loop()
        for number in _STOP_SIGNALS:
            loop.add_signal_handler(number, self._on_signal, number)
        tasks = [asyncio.create_task(self._keep_running(service)) for service in self._services]
        ready = asyncio.create_task(self._announce())
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
            failure = self._failure(tasks)
        finally:
            await _cancel([ready, stop, *tasks])
            stopped_well = await self._stop_all()
            for number in _STOP_SIGNALS:
                loop.remove_signal_handler(number)
            self._guard.close()
        if len(self._signals) > 1:
            return 128 + self._signals[-1]
        return _FAILED if failure or not stopped_well else 0

    def _on_signal(self, number: signal.Signals) -> None:
        self._signals.append(signal.Signals(number))
        if len(self._signals) == 1:
            self._log.say(f"{signal.Signals(number).name}: stopping; once more forces it")
            self._stop.set()
        elif len(self._signals) == 2:
            self._log.say(f"{signal.Signals(number).name} again: killing what still runs")
            for process in self._processes.values():
                process.kill()

    def _failure(self, tasks: Sequence[asyncio.Task[None]]) -> bool:
        failures = [task.exception() for task in tasks if task.done() and not task.cancelled()]
        for failure in failures:
            if isinstance(failure, StartFailedError):
                self._log.say(f"{failure}; stopping")
            elif failure is not None:
                raise failure
        return bool(failures)

    async def _keep_running(self, service: Service) -> None:
        deaths = 0
        while True:
            for needed in service.depends_on:
                if self._by_name[needed].is_wanted():
                    await self._healthy[needed].wait()
            process = self._start(service)
            code = await self._follow(service, process)
            if not service.is_wanted():
                self._log.say(f"{service.name} was stopped on purpose ({describe_exit(code)})")
                await self._until_wanted(service)
                deaths = 0
                continue
            if service.name not in self._were_healthy:
                raise StartFailedError(
                    f"{service.name} ended with {describe_exit(code)} before it was ready; "
                    "its last lines say why"
                )
            deaths = 1 if process.uptime_s > self._timing.fine_after_s else deaths + 1
            pause_s = self._timing.pause_s(deaths)
            self._log.say(
                f"{service.name} died ({describe_exit(code)}) after {process.uptime_s:.1f} s; "
                f"starting it again in {pause_s:g} s"
            )
            await asyncio.sleep(pause_s)

    async def _until_wanted(self, service: Service) -> None:
        while not service.is_wanted():  # noqa: ASYNC110 - another process changes its mind
            await asyncio.sleep(self._timing.look_while_starting_s)
        self._log.say(f"{service.name} is wanted again")

    def _start(self, service: Service) -> ServiceProcess:
        try:
            process = ServiceProcess(service, self._log, self._guard)
        except OSError as failure:
            raise StartFailedError(
                f"{service.name} cannot be started: {service.command[0]}: {failure.strerror}"
            ) from failure
        self._processes[service.name] = process
        return process

    async def _follow(self, service: Service, process: ServiceProcess) -> int:
        watch = asyncio.create_task(self._watch(service))
        ended = asyncio.create_task(process.wait())
        try:
            await asyncio.wait([watch, ended], return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                await watch  # only an error that nobody foresaw ends it; unseen it would be a hang
            return await ended
        finally:
            self._healthy[service.name].clear()
            await _cancel([watch, ended])

    async def _watch(self, service: Service) -> None:
        timing = self._timing
        healthy = self._healthy[service.name]
        said = time.monotonic()
        while True:
            try:
                await service.health.check()
            except UnhealthyError as failure:
                if healthy.is_set():
                    healthy.clear()
                    self._log.say(f"{service.name} runs but does not answer: {failure}")
                    said = time.monotonic()
                elif time.monotonic() - said > timing.say_still_starting_s:
                    self._log.say(f"still waiting for {service.name}: {failure}")
                    said = time.monotonic()
                await asyncio.sleep(timing.look_while_starting_s)
                continue
            if not healthy.is_set():
                if service.name in self._were_healthy:
                    self._log.say(f"{service.name} is healthy again")
                self._were_healthy.add(service.name)
                healthy.set()
            await asyncio.sleep(timing.look_every_s)

    async def _announce(self) -> None:
        started = time.monotonic()
        for service in self._services:
            await self._healthy[service.name].wait()
        self._log.say(f"all services are healthy, {time.monotonic() - started:.1f} s after start")
        self._on_ready()

    async def _stop_all(self) -> bool:
        went_well = True
        for service in reversed(self._services):
            process = self._processes.get(service.name)
            if process is None:
                continue
            if not process.has_ended:
                self._log.say(f"stopping {service.name}")
                code = await process.stop()
                if process.was_killed or code not in service.ends_well_with:
                    self._log.say(f"{service.name} ended with {describe_exit(code)}")
                    went_well = False
        self._log.say("stopped")
        return went_well


async def _cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
