"""A console as users run it: an own process, looked at by a browser or asked by HTTP."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

from tests.http_process import HttpProcess

if TYPE_CHECKING:
    from collections.abc import Sequence


class ConsoleProcess(HttpProcess):
    """One `headwater console` process on the loopback interface."""

    name = "console"
    media_type = "text/html"
    ready = re.compile(r"console listening on (https?)://127\.0\.0\.1:(\d+)")

    def __init__(self, bootstrap_servers: str, options: Sequence[str] = ()) -> None:
        super().__init__()
        self.bootstrap_servers = bootstrap_servers
        self.options = list(options)

    def command_line(self) -> list[str]:
        return [
            *(sys.executable, "-m", "headwater", "console", "--port", str(self.port)),
            *("--bootstrap-server", self.bootstrap_servers, *self.options),
        ]
