"""A Spark driver in a process of its own, with all that it starts: killed, and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tests.waiting import wait_for

if TYPE_CHECKING:
    from typing import Self

_REPOSITORY = Path(__file__).parents[2]


class DriverProcess:
    """Runs a module of the tests, and keeps what it says."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = [sys.executable, "-m", module, *arguments]
        self._process: subprocess.Popen[str] | None = None
        self._lines: list[str] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def text(self) -> str:
        """The end of what it has said."""
        return "".join(self._lines)[-10_000:]

    @property
    def pid(self) -> int:
        assert self._process is not None, "it was started"
        return self._process.pid

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command,
            cwd=_REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()

    def note(self, text: str) -> None:
        """Put a line among what the driver says, to read one beside the other."""
        print(text, flush=True)
        self._lines.append(f"{text}\n")

    def wait_for_line(self, beginning: str) -> None:
        """Wait until the driver says another line that begins so."""
        before = self._said(beginning)
        wait_for(lambda: self._said(beginning) > before, lambda: f"{beginning}:\n{self.text}")

    def last(self, beginning: str) -> str:
        """Return the last line that began so; without one, nothing."""
        return next((line for line in reversed(self._lines) if line.startswith(beginning)), "")

    def kill(self) -> None:
        """SIGKILL for all of them at once, the JVM included."""
        assert self._process is not None, "it was started"
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _said(self, beginning: str) -> int:
        return sum(line.startswith(beginning) for line in self._lines)

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None, "it is a pipe"
        for line in process.stdout:
            self._lines.append(line)
