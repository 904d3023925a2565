"""A server as users run it: an own process, started, stopped, killed and read from outside."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING, ClassVar

from headwater.processes.ports import FreePorts

if TYPE_CHECKING:
    import re
    from typing import Self

READY_WITHIN_S = 60.0
STOPPED_WITHIN_S = 60.0
# Ports are kept for as many servers as a worker may have to start again; each takes a file.
_MOST_KEPT_PORTS = 200
_kept_ports: deque[FreePorts] = deque()


class ServerProcess(ABC):
    """A process that says when it listens.

    `start` returns when it does. `stop` asks it to end (SIGTERM) and insists on a clean end;
    `kill` gives it no chance (SIGKILL). It can be started again on the same port, so that a
    client's reconnect is part of a test.
    """

    started: ClassVar[list[ServerProcess]] = []
    """Every one of this run, to find survivors."""
    name: ClassVar[str]
    ready: ClassVar[re.Pattern[str]]
    ready_within_s = READY_WITHIN_S

    def __init__(self) -> None:
        self.port = 0
        self.output: list[str] = []
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._readiness = _Readiness()

    @abstractmethod
    def command_line(self) -> list[str]:
        """What to start; with the port it had before, if it had one."""

    @abstractmethod
    def listens(self, said: re.Match[str]) -> None:
        """Note where it listens, as it says itself."""

    @property
    def pid(self) -> int:
        assert self._process is not None, f"the {self.name} was never started"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def text(self) -> str:
        """All that it printed so far, over all its starts."""
        return "".join(self.output)

    def start(self) -> Self:
        """Start it and return when it listens."""
        self.launch()
        self._readiness.known.wait(self.ready_within_s)
        if self._readiness.said is None:
            self.kill()
            raise AssertionError(f"the {self.name} did not come up:\n{self.text}")
        self.listens(self._readiness.said)
        return self

    def launch(self) -> None:
        """Start it without waiting for anything."""
        assert not self.running, f"the {self.name} runs already"
        if not self.port:
            self.port = _kept_port()
        self._readiness = _Readiness()
        self._process = subprocess.Popen(
            self.command_line(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if self not in ServerProcess.started:
            ServerProcess.started.append(self)
        self._reader = threading.Thread(
            target=self._read_output, args=(self._process, self._readiness), daemon=True
        )
        self._reader.start()

    def stop(self) -> None:
        """End it as an operator would, and insist that it ends well."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(STOPPED_WITHIN_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the {self.name} did not stop on SIGTERM:\n{self.text}") from None
        self._read_to_the_end()
        assert code == 0, f"the {self.name} ended with {code}:\n{self.text}"
        assert "Traceback" not in self.text, self.text

    def kill(self) -> None:
        """SIGKILL: no clean-up, no last words."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def restart(self) -> Self:
        self.stop()
        return self.start()

    def says(self, text: str, within_s: float = 60.0, after_line: int = 0) -> bool:
        """Whether it has printed this or does so soon; output comes through a pipe and a thread."""
        deadline = time.monotonic() + within_s
        while not any(text in line for line in self.output[after_line:]):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def _read_output(self, process: subprocess.Popen[str], readiness: _Readiness) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self.output.append(line)
                if readiness.said is None and (match := self.ready.search(line)):
                    readiness.said = match
                    readiness.known.set()
        readiness.known.set()  # its end must wake whoever waits for its start

    def _read_to_the_end(self) -> None:
        assert self._reader is not None
        self._reader.join(STOPPED_WITHIN_S)
        assert not self._reader.is_alive(), f"a child of the {self.name} outlived it"


class _Readiness:
    """What is known of one start: it said that it listens, or it ended without."""

    def __init__(self) -> None:
        self.known = threading.Event()
        self.said: re.Match[str] | None = None


def _kept_port() -> int:
    """Return a port that nobody else is given while its server is down, or 0 for any."""
    if sys.platform != "linux":
        return 0
    ports = FreePorts("127.0.0.1")
    _kept_ports.append(ports)
    if len(_kept_ports) > _MOST_KEPT_PORTS:
        _kept_ports.popleft().close()
    return ports.pick()
