"""One run of a service: started so that it cannot outlive the supervisor, read, and stopped."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from headwater.up.log_lines import LineSplitter

if TYPE_CHECKING:
    from headwater.processes.guard import Guard
    from headwater.up.log_lines import LogLines
    from headwater.up.service import Service

_CHUNK = 1 << 16
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class ServiceProcess:
    """A running service. It leads a process group, in which all that it starts is found again.

    Not asyncio's own subprocesses: those have not ended while somebody holds on to their output.
    """

    def __init__(self, service: Service, log: LogLines, guard: Guard) -> None:
        """Start a service; raises OSError if its program cannot be started."""
        self.service = service
        self.was_killed = False
        self._log = log
        self._guard = guard
        self._started = time.monotonic()
        # From this thread, the one that runs the loop: the kernel watches the thread as parent.
        self._process = subprocess.Popen(
            list(service.command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **service.environment},
            # Ctrl-C on the terminal is for the supervisor alone, which stops services in order.
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )
        self.pid = self._process.pid
        guard.watch(self.pid)
        self._ended = asyncio.create_task(self._follow())

    @property
    def uptime_s(self) -> float:
        """How long it has been running."""
        return time.monotonic() - self._started

    @property
    def has_ended(self) -> bool:
        """Whether it is over."""
        return self._ended.done()

    async def wait(self) -> int:
        """Wait for the end and return the exit code; minus a signal's number if one ended it."""
        return await asyncio.shield(self._ended)

    async def stop(self) -> int:
        """Ask the service to stop, insist if it does not, and return its exit code."""
        if not self.has_ended:
            # The service alone: it looks after what it has started.
            self._process.send_signal(signal.SIGTERM)
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
        if not self.has_ended:
            self.was_killed = True
            self._kill_group()

    async def _follow(self) -> int:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[int] = loop.create_future()

        def wait() -> None:
            code = self._process.wait()
            loop.call_soon_threadsafe(ended.set_result, code)

        threading.Thread(target=wait, name=f"wait-for-{self.service.name}", daemon=True).start()
        reading = asyncio.create_task(self._read())
        code = await ended
        # What it has started and not stopped would be left behind, and keep the pipe open.
        self._kill_group()
        await reading
        self._guard.forget(self.pid)
        return code

    async def _read(self) -> None:
        assert self._process.stdout is not None
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), self._process.stdout
        )
        splitter = LineSplitter()
        try:
            while data := await reader.read(_CHUNK):
                self._log.write(self.service.name, splitter.feed(data))
        finally:
            self._log.write(self.service.name, splitter.finish())
            transport.close()

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


def describe_exit(code: int) -> str:
    """Say how a process ended.

    >>> describe_exit(1), describe_exit(-9)
    ('exit code 1', 'SIGKILL')
    """
    if code >= 0:
        return f"exit code {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def _die_with_parent() -> None:
    # The guard would end it as well, but this works even if the guard was killed, too.
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
