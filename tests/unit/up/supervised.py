"""A supervisor as a process: started, read line by line, signalled, and checked for leftovers."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, Self

import psutil
from tests.processes import runs, wait_until_ended

from headwater.processes.child import ChildProcess

if TYPE_CHECKING:
    import signal
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# Far more than anything here takes: only a hang lasts as long.
HUNG_AFTER_S = 200.0


class Supervised:
    """Runs a command that supervises services; leaving the block ends whatever is left of it."""

    def __init__(
        self,
        command: Sequence[str],
        directory: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = directory
        self.lines: list[str] = []
        self._seen: set[int] = set()
        self._changed = threading.Condition()
        self._process = ChildProcess(
            command,
            on_lines=self._take,
            on_end=lambda _: self._take([]),
            directory=directory,
            environment=environment,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remember()
        self._process.kill()
        for pid in self.survivors():
            psutil.Process(pid).kill()
        self._process.wait(HUNG_AFTER_S)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, pattern: str, count: int = 1) -> re.Match[str]:
        """Wait until so many lines match; returns the last match."""
        deadline = time.monotonic() + HUNG_AFTER_S
        with self._changed:
            while True:
                is_over = not self._process.running
                found = [match for line in self.lines if (match := re.search(pattern, line))]
                if len(found) >= count:
                    return found[count - 1]
                left = deadline - time.monotonic()
                assert left > 0, f"no line has {pattern!r}:\n{self.text}"
                assert not is_over, f"it ended, and no line has {pattern!r}:\n{self.text}"
                self._changed.wait(min(left, 1.0))

    def signal(self, number: signal.Signals) -> None:
        self.remember()
        self._process.ask(number)

    def wait(self) -> int:
        """Wait for the end and return the exit code; nobody may hold its output any longer."""
        self.remember()
        return self._process.wait(HUNG_AFTER_S)

    def remember(self) -> None:
        """Take note of all processes below the supervisor, to look for them later."""
        try:
            self._seen |= {child.pid for child in psutil.Process(self.pid).children(recursive=True)}
        except psutil.NoSuchProcess:
            return

    def processes(self, name: str) -> list[psutil.Process]:
        """Return the processes below the supervisor that have this in their command line."""
        self.remember()
        below = psutil.Process(self.pid).children(recursive=True)
        return [each for each in below if runs(each.pid) and name in " ".join(each.cmdline())]

    def survivors(self) -> list[int]:
        """Return the processes below the supervisor that still run."""
        return [pid for pid in self._seen if runs(pid)]

    def wait_for_none_left(self) -> None:
        wait_until_ended(self._seen)

    def _take(self, lines: list[str]) -> None:
        with self._changed:
            self.lines += lines
            self._changed.notify_all()
