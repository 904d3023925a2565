"""Starts services in order, watches them, restarts what died, and stops all in reverse order."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING

from headwater.processes.child import describe_exit
from headwater.processes.guard import Guard
from headwater.up.keeper import Keeper, StartFailedError, cancel
from headwater.up.service import start_order
from headwater.up.timing import Timing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from headwater.up.log_lines import LogLines
    from headwater.up.service import Service

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FAILED = 1


class Supervisor:
    """Runs services until a signal says stop; each has a keeper.

    An essential service that cannot be started stops all again, and the exit code is 1. Whatever
    dies later is started again.
    """

    def __init__(
        self,
        services: Sequence[Service],
        log: LogLines,
        *,
        on_ready: Callable[[], None] = lambda: None,
        timing: Timing | None = None,
    ) -> None:
        self.keepers: dict[str, Keeper] = {}
        self._log = log
        self._on_ready = on_ready
        self._signals: list[signal.Signals] = []
        self._stop = asyncio.Event()
        timing = timing or Timing()
        ordered = start_order(services)
        self._guard = Guard(timing.guard_kills_after_s)
        for service in ordered:
            needed = [self.keepers[name] for name in service.depends_on]
            self.keepers[service.name] = Keeper(service, needed, log, self._guard, timing)
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
        tasks = [asyncio.create_task(keeper.run()) for keeper in self.keepers.values()]
        ready = asyncio.create_task(self._announce())
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait([stop, *tasks], return_when=asyncio.FIRST_COMPLETED)
            failure = self._failure(tasks)
        finally:
            await cancel([ready, stop, *tasks])
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
            for keeper in self.keepers.values():
                if keeper.process is not None:
                    keeper.process.kill()

    def _failure(self, tasks: Sequence[asyncio.Task[None]]) -> bool:
        failures = [task.exception() for task in tasks if task.done() and not task.cancelled()]
        for failure in failures:
            if isinstance(failure, StartFailedError):
                self._log.say(f"{failure}; stopping")
            elif failure is not None:
                raise failure
        return bool(failures)

    async def _announce(self) -> None:
        started = time.monotonic()
        for keeper in self.keepers.values():
            if keeper.service.is_essential:
                await keeper.is_healthy.wait()
        took = f"{time.monotonic() - started:.1f} s after start"
        missing = [name for name, each in self.keepers.items() if not each.is_healthy.is_set()]
        if missing:
            self._log.say(f"all services are healthy but {', '.join(missing)}, {took}")
        else:
            self._log.say(f"all services are healthy, {took}")
        self._on_ready()

    async def _stop_all(self) -> bool:
        went_well = True
        for keeper in reversed(self.keepers.values()):
            service, process = keeper.service, keeper.process
            if process is None or process.has_ended:
                continue
            self._log.say(f"stopping {service.name}")
            code = await process.stop()
            if process.was_killed or code not in service.ends_well_with:
                self._log.say(f"{service.name} ended with {describe_exit(code)}")
                went_well = False
        self._log.say("stopped")
        return went_well
