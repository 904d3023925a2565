"""A Connect worker as users run it: an own process, started, stopped, killed and asked by HTTP."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from tests.http_process import HttpProcess
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence

# Spark's start takes its time on a machine that has much else to do.
WITHIN_S = 300.0


class ConnectProcess(HttpProcess):
    """One `headwater connect worker` process on the loopback interface, or a standalone one."""

    name = "Connect worker"
    media_type = "application/json"
    ready = re.compile(r"Connect worker listening on (https?)://127\.0\.0\.1:(\d+)")

    def __init__(self, bootstrap_servers: str, arguments: Sequence[str] = ("worker",)) -> None:
        super().__init__()
        self.bootstrap_servers = bootstrap_servers
        self.arguments = list(arguments)

    def __repr__(self) -> str:
        return f"the Connect worker on port {self.port} with {self.arguments}"

    def command_line(self) -> list[str]:
        return [
            *(sys.executable, "-m", "headwater", "connect", self.arguments[0]),
            *("--port", str(self.port), "--bootstrap-server", self.bootstrap_servers),
            *self.arguments[1:],
        ]

    def put(self, name: str, config: dict[str, str]) -> None:
        """Make or change a connector."""
        answer = self.request("PUT", f"/connectors/{name}/config", config)
        assert answer.status in (200, 201), answer

    def progress(self, name: str) -> dict[str, Any]:
        """Return how far a connector is; nothing before it runs."""
        found: dict[str, Any] = self.get(f"/connectors/{name}/status").get("progress", {})
        return found

    def wait_for_rows(self, name: str, rows: int) -> None:
        """Wait until a connector has written so many rows since it was started."""
        wait_for(
            lambda: self.progress(name).get("rows_written", 0),
            lambda: f"{rows} rows of {name}: {self.get(f'/connectors/{name}/status')}",
            until=lambda written: written >= rows,
            within_s=WITHIN_S,
        )
