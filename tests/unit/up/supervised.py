"""A supervisor as a process: started, read line by line, signalled, and checked for leftovers."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from typing import TYPE_CHECKING, Self

import psutil
from tests.processes import runs, wait_until_ended

if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
    from pathlib import Path

# Far more than anything here takes: only a hang lasts as long.
HUNG_AFTER_S = 200.0


class Supervised:
    """Runs a command that supervises services; leaving the block ends whatever is left of it."""

    def __init__(
        self,
        command: Sequence[str],
        directory: Path,
        environment: dict[str, str] | None = None,
    ) -> None:
        self.directory = directory
        self.lines: list[str] = []
        self._seen: set[int] = set()
        self._changed = threading.Condition()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=directory,
            env={**os.environ, **(environment or {})},
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.remember()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pid in self.survivors():
            psutil.Process(pid).kill()
        self._reader.join()
        if self._process.stdout is not None:
            self._process.stdout.close()

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
                found = [match for line in self.lines if (match := re.search(pattern, line))]
                if len(found) >= count:
                    return found[count - 1]
                is_over = not self._reader.is_alive()
                left = deadline - time.monotonic()
                assert left > 0, f"no line has {pattern!r}:\n{self.text}"
                assert not is_over, f"it ended, and no line has {pattern!r}:\n{self.text}"
                self._changed.wait(min(left, 1.0))

    def signal(self, number: signal.Signals) -> None:
        self.remember()
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for the end and return the exit code."""
        self.remember()
        code = self._process.wait(HUNG_AFTER_S)
        self._reader.join(HUNG_AFTER_S)
        assert not self._reader.is_alive(), "somebody still holds the supervisor's output"
        return code

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

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self.lines.append(line.rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()
