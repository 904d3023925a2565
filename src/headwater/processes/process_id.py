"""Processes by their number and start time, so that a number given anew is not mistaken."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from headwater.processes.whole_file import write_whole


class ProcessId(NamedTuple):
    """A process, as another one may find it again."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> ProcessId | None:
        """Return a running process; None for one that is gone, or that only has not been reaped."""
        started = _linux(pid) if sys.platform == "linux" else _elsewhere(pid)
        return None if started is None else cls(pid, started)

    @classmethod
    def read(cls, path: Path) -> ProcessId | None:
        """Return the process that a file names, if it still runs."""
        try:
            pid, _, started = path.read_text().partition(" ")
        except FileNotFoundError:
            return None
        known = cls.of(int(pid))
        return known if known is not None and known.started == started else None

    def write(self, path: Path) -> None:
        """Name this process in a file, in one step."""
        write_whole(path, f"{self.pid} {self.started}")

    @property
    def is_running(self) -> bool:
        """Whether it is still there."""
        return ProcessId.of(self.pid) == self

    def signal(self, number: int) -> None:
        """Send a signal, unless it is gone."""
        if self.is_running:
            os.kill(self.pid, number)


def _linux(pid: int) -> str | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in brackets may hold anything; what follows the last bracket is the state, and the
    # start time is the twenty-second field of all.
    fields = stat.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else fields[19]


def _elsewhere(pid: int) -> str | None:
    asked = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, started = asked.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else started.strip()
