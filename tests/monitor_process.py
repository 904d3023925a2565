"""A monitor as users run it: an own process that looks at its cluster ten times a second."""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from typing import TYPE_CHECKING, Any

from tests.server_process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Sequence


class MonitorProcess(ServerProcess):
    """One `headwater monitor server` process on the loopback interface."""

    name = "monitor"
    ready = re.compile(r"monitor listening on http://127\.0\.0\.1:(\d+)")

    def __init__(self, bootstrap_servers: str, options: Sequence[str] = ()) -> None:
        super().__init__()
        self._options = ("--bootstrap-server", bootstrap_servers, *options)

    def command_line(self) -> list[str]:
        return [
            *(sys.executable, "-m", "headwater", "monitor", "server", "--port", str(self.port)),
            *("--property", "poll.interval.ms=100", *self._options),
        ]

    def listens(self, said: re.Match[str]) -> None:
        self.port = int(said[1])

    def get(self, path: str) -> Any:
        """Return the JSON at a path."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
            return json.loads(answer.read())
