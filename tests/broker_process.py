"""A broker as users run it: an own process, started, stopped, killed and read from outside."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

# Any program with the same command line can stand in, e.g. one that starts Apache Kafka:
# a test that passes there as well asks for what Kafka does.
COMMAND = shlex.split(os.environ.get("HEADWATER_TEST_BROKER", "")) or [
    sys.executable,
    "-m",
    "headwater",
]

READY_WITHIN_S = 60.0
STOPPED_WITHIN_S = 60.0

_READY = re.compile(r"listening on 127\.0\.0\.1:(\d+)")


class BrokerProcess:
    """One `headwater broker` process on the loopback interface.

    `start` returns when the broker says that it listens. `stop` asks it to end (SIGTERM) and
    insists on a clean end; `kill` gives it no chance (SIGKILL). It can be started again on the
    same data and the same port, so that a client's reconnect is part of a test.
    """

    started: list[BrokerProcess] = []  # noqa: RUF012 - every one of this run, to find survivors
    command: Sequence[str] = COMMAND
    ready_within_s = READY_WITHIN_S

    def __init__(self, data_dir: Path, properties: Mapping[str, str] | None = None) -> None:
        self.data_dir = data_dir
        self.properties = dict(properties or {})
        self.port = 0
        self.output: list[str] = []
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._readiness = _Readiness()
        self._children: list[psutil.Process] = []

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the broker was never started"
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def rss(self) -> int:
        """Resident bytes of the broker itself."""
        return int(psutil.Process(self.pid).memory_info().rss)

    def start(self) -> BrokerProcess:
        """Start it and return when it listens."""
        self.launch()
        self._readiness.known.wait(self.ready_within_s)
        if self._readiness.port is None:
            self.kill()
            raise AssertionError(f"the broker did not come up:\n{self.text}")
        self.port = self._readiness.port
        return self

    def launch(self) -> None:
        """Start it without waiting for anything."""
        assert not self.running, "the broker runs already"
        arguments = ["broker", "--port", str(self.port), "--data", str(self.data_dir)]
        for name, value in self.properties.items():
            arguments += ["--property", f"{name}={value}"]
        self._readiness = _Readiness()
        self._process = subprocess.Popen(
            [*self.command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        if self not in BrokerProcess.started:
            BrokerProcess.started.append(self)
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
            raise AssertionError(f"the broker did not stop on SIGTERM:\n{self.text}") from None
        assert self._reader is not None
        self._reader.join(STOPPED_WITHIN_S)
        assert not self._reader.is_alive(), "a child of the broker outlived it"
        assert code == 0, f"the broker ended with {code}:\n{self.text}"
        assert "Traceback" not in self.text, self.text

    def kill(self) -> None:
        """SIGKILL: no clean-up, no last words. What it started is on its own, see `orphans`."""
        assert self._process is not None
        with contextlib.suppress(psutil.NoSuchProcess):
            self._children += psutil.Process(self._process.pid).children(recursive=True)
        self._process.kill()
        self._process.wait()

    def orphans(self, within_s: float = 10.0) -> list[psutil.Process]:
        """Children that still run some time after their broker was killed; there must be none."""
        _, alive = psutil.wait_procs(self._children, within_s)
        return list(alive)

    def restart(self) -> BrokerProcess:
        self.stop()
        return self.start()

    @property
    def text(self) -> str:
        """All that the broker printed so far, over all its starts."""
        return "".join(self.output)

    def says(self, text: str, within_s: float = 10.0, after_line: int = 0) -> bool:
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
                if readiness.port is None and (match := _READY.search(line)):
                    readiness.port = int(match[1])
                    readiness.known.set()
        readiness.known.set()  # its end must wake whoever waits for its start


class _Readiness:
    """What is known of one start: it listens on a port, or it ended without."""

    def __init__(self) -> None:
        self.known = threading.Event()
        self.port: int | None = None
