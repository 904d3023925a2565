"""The programs that the plant runs on: the platform and the pipeline, each a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from headwater.processes.guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_KEPT_LINES = 40
_STOPPED_WITHIN_S = 60.0


class Child:
    """Runs `headwater ...` while the `with` block runs, and hands over each line that it prints.

    It has a session of its own: Ctrl-C on the terminal reaches the plant alone, which then ends
    what it has started in the right order. Should the plant be killed, a guard ends it.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        on_line: Callable[[str], None],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.lines: list[str] = []
        self._on_line = on_line
        self._process = subprocess.Popen(
            [sys.executable, "-m", "headwater", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
        self._guard = Guard(_STOPPED_WITHIN_S)
        self._guard.watch(self._process.pid)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether it is still there."""
        return self._process.poll() is None

    def stop(self) -> int:
        """End it as Ctrl-C would, and return its exit code; insist if it takes too long."""
        if self.running:
            self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(_STOPPED_WITHIN_S)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):  # it may have ended just now
                os.killpg(self._process.pid, signal.SIGKILL)
            code = self._process.wait()
        self._reader.join()
        self._guard.forget(self._process.pid)
        self._guard.close()
        return code

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                text = line.rstrip()
                self.lines = [*self.lines[1 - _KEPT_LINES :], text]
                self._on_line(text)
