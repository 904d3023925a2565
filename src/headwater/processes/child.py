"""A child process: started, read line by line, guarded, asked to stop, killed with all it started.

with Guard(kills_after_s=10) as guard:
    with ChildProcess(["headwater", "broker"], guard=guard, ready=r"listening on (\\S+)") as broker:
        said = broker.wait_until_ready(30)
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Self

from headwater.processes.lines import LineSplitter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from headwater.processes.guard import Guard

STOPPED_WITHIN_S = 30.0

_CHUNK = 1 << 16
_KEPT_LINES = 50
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class ChildProcess:
    """A program that runs beside this one.

    It leads a session of its own: Ctrl-C on the terminal reaches this process alone, which ends
    what it has started in the right order. Once it has ended, whatever it left in its process
    group is killed. Should this process be killed, the guard ends it.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        guard: Guard | None = None,
        on_lines: Callable[[list[str]], object] = lambda _: None,
        on_end: Callable[[int], object] = lambda _: None,
        ready: str | None = None,
        output: IO[bytes] | None = None,
        environment: Mapping[str, str] | None = None,
        directory: Path | None = None,
        ends_with_thread: bool = False,
    ) -> None:
        """Start it; raises OSError if its program cannot be started.

        Without a `guard` it may outlive this process. What it writes goes to the file `output` or,
        in lines, to `on_lines`; both callbacks come from threads. `ready` is the pattern of the
        line that says that it can be used. With `ends_with_thread` the kernel, where it can
        (Linux), asks it to stop when the calling thread is gone, even if the guard is gone, too.
        """
        self.was_killed = False
        self.tail: deque[str] = deque(maxlen=_KEPT_LINES)
        self._guard = guard
        self._on_lines = on_lines
        self._on_end = on_end
        self._ready = None if ready is None else re.compile(ready)
        self._said_ready: re.Match[str] | None = None
        self._is_known = threading.Event()
        self._ended = threading.Event()
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if output is None else output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            preexec_fn=_end_with_thread if ends_with_thread and _libc is not None else None,
        )
        self.pid = self._process.pid
        if guard is not None:
            guard.watch(self.pid)
        self._reader = threading.Thread(target=self._read, name=f"read-{self.pid}", daemon=True)
        threading.Thread(target=self._follow, name=f"wait-for-{self.pid}", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether it is not over yet."""
        return not self._ended.is_set()

    @property
    def uptime_s(self) -> float:
        """How long ago it was started."""
        return time.monotonic() - self._started

    @property
    def last_lines(self) -> str:
        """The end of what it wrote."""
        return "\n".join(self.tail)

    def wait_until_ready(self, within_s: float) -> re.Match[str] | None:
        """Wait for the line that says so; None if it ended before, or took too long."""
        self._is_known.wait(within_s)
        return self._said_ready

    def ask(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Ask it to stop. It alone is asked: it looks after what it has started."""
        if self.running:
            self._process.send_signal(number)

    def wait(self, within_s: float | None = None) -> int:
        """Wait for its end and return the exit code; minus a signal's number if one ended it.

        All that it wrote has been handed over by then. Raises TimeoutError if it takes longer.
        """
        if not self._ended.wait(within_s):
            raise TimeoutError(f"process {self.pid} has not ended within {within_s:g} s")
        return self._process.returncode

    def stop(
        self, number: signal.Signals = signal.SIGTERM, within_s: float = STOPPED_WITHIN_S
    ) -> int:
        """Ask it to stop, insist if it does not, and return its exit code."""
        self.ask(number)
        try:
            return self.wait(within_s)
        except TimeoutError:
            self.kill()
            return self.wait()

    def kill(self) -> None:
        """End it, and all that it has started, at once."""
        if self.running:
            self.was_killed = True
            self._kill_group()

    def _follow(self) -> None:
        if self._process.stdout is not None:
            self._reader.start()
        code = self._process.wait()
        # What it has started and not stopped would be left behind, and keep the pipe open.
        self._kill_group()
        if self._process.stdout is not None:
            self._reader.join()
        if self._guard is not None:
            self._guard.forget(self.pid)
        self._ended.set()
        self._is_known.set()
        self._on_end(code)

    def _read(self) -> None:
        assert self._process.stdout is not None
        splitter = LineSplitter()
        with self._process.stdout as stream:
            while data := os.read(stream.fileno(), _CHUNK):
                self._take(splitter.feed(data))
        self._take(splitter.finish())

    def _take(self, lines: list[str]) -> None:
        if not lines:
            return
        self.tail.extend(lines)
        if self._ready is not None and self._said_ready is None:
            self._said_ready = next(filter(None, map(self._ready.search, lines)), None)
            if self._said_ready is not None:
                self._is_known.set()
        self._on_lines(lines)

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


def _end_with_thread() -> None:
    assert _libc is not None
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
