"""A broker as a child process: started, waited for, and stopped whatever happens."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

from headwater.cli.errors import CommandError
from headwater.processes.guard import Guard
from headwater.processes.ports import is_free

_READY_WITHIN_S = 30.0
_STOPPED_WITHIN_S = 30.0
_READY = re.compile(r"listening on (\S+):(\d+)")
_LOG_LINES = 50


class BrokerProcess:
    """Runs `headwater broker` while the `with` block runs.

    It is put in a session of its own: Ctrl-C on the terminal reaches only this process, which
    can then let its clients finish before it stops the broker. Should this process be killed, a
    guard ends the broker.
    """

    def __init__(self, data: Path, port: int) -> None:
        self.address = ""
        self._options = ["--port", str(port), "--data", str(data)]
        self._log: list[str] = []
        self._ready = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self._guard: Guard | None = None
        self._reader = threading.Thread(target=self._read_log, name="broker-log", daemon=True)

    def __enter__(self) -> BrokerProcess:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "headwater", "broker", *self._options],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            self._guard = Guard(_STOPPED_WITHIN_S)
            self._guard.watch(self._process.pid)
            self._reader.start()
            self._ready.wait(_READY_WITHIN_S)
            if not self.address:
                raise CommandError(f"the broker did not start:\n{self.log}")
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def running(self) -> bool:
        """Whether the process is still there."""
        return self._process is not None and self._process.poll() is None

    @property
    def log(self) -> str:
        """The last lines that the broker wrote."""
        return "\n".join(self._log)

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

    def stop(self) -> None:
        """Ask the broker to stop, and insist if it does not."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOPPED_WITHIN_S)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):  # it may have ended just now
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._reader.is_alive():
            self._reader.join()
        if self._guard is not None:
            self._guard.forget(self._process.pid)
            self._guard.close()
            self._guard = None

    def _read_log(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._log = [*self._log[1 - _LOG_LINES :], line.rstrip()]
                if not self._ready.is_set() and (match := _READY.search(line)):
                    self.address = f"{match[1]}:{match[2]}"
                    self._ready.set()
        self._ready.set()


def preferred_port(port: int) -> int:
    """Return the port if it is free on this machine, else 0, which stands for any free one."""
    return port if is_free(port) else 0
