"""A broker as users run it: an own process, started, stopped, killed and read from outside."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

import psutil
from tests.server_process import ServerProcess

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


class BrokerProcess(ServerProcess):
    """One `headwater broker` process on the loopback interface."""

    name = "broker"
    ready = re.compile(r"listening on 127\.0\.0\.1:(\d+)")
    command: Sequence[str] = COMMAND

    def __init__(self, data_dir: Path, properties: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self.data_dir = data_dir
        self.properties = dict(properties or {})
        self._children: list[psutil.Process] = []

    def __repr__(self) -> str:
        return f"the broker of {self.data_dir}"

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def rss(self) -> int:
        """Resident bytes of the broker itself."""
        return int(psutil.Process(self.pid).memory_info().rss)

    def command_line(self) -> list[str]:
        line = [*self.command, "broker", "--port", str(self.port), "--data", str(self.data_dir)]
        for name, value in self.properties.items():
            line += ["--property", f"{name}={value}"]
        return line

    def listens(self, said: re.Match[str]) -> None:
        self.port = int(said[1])

    def kill(self) -> None:
        """SIGKILL: no clean-up, no last words. What it started is on its own, see `orphans`."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self._children += psutil.Process(self.pid).children(recursive=True)
        super().kill()

    def orphans(self, within_s: float = 10.0) -> list[psutil.Process]:
        """Children that still run some time after their broker was killed; there must be none."""
        _, alive = psutil.wait_procs(self._children, within_s)
        return list(alive)
