"""A broker as a child process: started, waited for, and stopped whatever happens."""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack
from pathlib import Path

from headwater.cli.errors import CommandError
from headwater.processes.child import STOPPED_WITHIN_S, ChildProcess
from headwater.processes.guard import Guard
from headwater.processes.ports import is_free

_READY_WITHIN_S = 30.0
_READY = r"listening on (\S+:\d+)"


class BrokerProcess:
    """Runs `headwater broker` while the `with` block runs."""

    def __init__(self, data: Path, port: int) -> None:
        self.address = ""
        self._options = ["--port", str(port), "--data", str(data)]
        self._process: ChildProcess | None = None
        self._stack = ExitStack()

    def __enter__(self) -> BrokerProcess:
        with ExitStack() as stack:
            guard = stack.enter_context(Guard(STOPPED_WITHIN_S))
            command = [sys.executable, "-m", "headwater", "broker", *self._options]
            self._process = stack.enter_context(ChildProcess(command, guard=guard, ready=_READY))
            ready = self._process.wait_until_ready(_READY_WITHIN_S)
            if ready is None:
                self._process.stop()
                raise CommandError(f"the broker did not start:\n{self.log}")
            self.address = ready[1]
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def running(self) -> bool:
        """Whether the process is still there."""
        return self._process is not None and self._process.running

    @property
    def log(self) -> str:
        """The last lines that the broker wrote."""
        return "" if self._process is None else self._process.last_lines

    @property
    def resident_bytes(self) -> int | None:
        """How much memory the broker takes; None where the system does not say."""
        if self._process is None:
            return None
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text()
        except OSError:
            return None
        match = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(match[1]) * 1024 if match else None


def preferred_port(port: int) -> int:
    """Return the port if it is free on this machine, else 0, which stands for any free one."""
    return port if is_free(port) else 0
