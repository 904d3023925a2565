"""One run of a service: started so that it cannot outlive the supervisor, read, and stopped."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from headwater.processes.child import ChildProcess

if TYPE_CHECKING:
    from headwater.processes.guard import Guard
    from headwater.up.log_lines import LogLines
    from headwater.up.service import Service


class ServiceProcess:
    """A running service, to be awaited.

    Not asyncio's own subprocesses: those have not ended while somebody holds on to their output.
    """

    def __init__(self, service: Service, log: LogLines, guard: Guard) -> None:
        """Start a service; raises OSError if its program cannot be started."""
        self.service = service
        self._log = log
        loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = loop.create_future()
        self._child = ChildProcess(
            service.command,
            guard=guard,
            on_lines=lambda lines: log.write(service.name, lines),
            on_end=lambda code: loop.call_soon_threadsafe(self._ended.set_result, code),
            environment={"PYTHONUNBUFFERED": "1", **service.environment},
            ends_with_thread=True,
        )

    @property
    def pid(self) -> int:
        """Its number."""
        return self._child.pid

    @property
    def uptime_s(self) -> float:
        """How long it has been running."""
        return self._child.uptime_s

    @property
    def has_ended(self) -> bool:
        """Whether it is over."""
        return self._ended.done()

    @property
    def was_killed(self) -> bool:
        """Whether it was not left to end by itself."""
        return self._child.was_killed

    @property
    def tail(self) -> list[str]:
        """The last lines that it wrote."""
        return list(self._child.tail)

    async def wait(self) -> int:
        """Wait for the end and return the exit code; minus a signal's number if one ended it."""
        return await asyncio.shield(self._ended)

    async def stop(self) -> int:
        """Ask the service to stop, insist if it does not, and return its exit code."""
        self._child.ask()
        try:
            return await asyncio.wait_for(self.wait(), self.service.stop_within_s)
        except TimeoutError:
            self._log.say(
                f"{self.service.name} did not stop within {self.service.stop_within_s:g} s; "
                "killing it"
            )
            self.kill()
            return await self.wait()

    def kill(self) -> None:
        """End the service, and all that it has started, at once."""
        self._child.kill()
