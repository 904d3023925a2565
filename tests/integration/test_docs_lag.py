"""Every example of the page on lag is run, with the monitor as a process of its own."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest
from tests.docs_page import ROOT, commands, run_command
from tests.server_process import ServerProcess
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import StartBroker

PAGE = ROOT / "docs/lag.md"
PORT = "9308"


class MonitorProcess(ServerProcess):
    """One `headwater monitor server` process on the loopback interface."""

    name = "monitor"
    ready = re.compile(r"monitor listening on http://127\.0\.0\.1:(\d+)")

    def __init__(self, bootstrap_servers: str) -> None:
        super().__init__()
        self.bootstrap_servers = bootstrap_servers

    def command_line(self) -> list[str]:
        return [
            *(sys.executable, "-m", "headwater", "monitor", "server", "--port", str(self.port)),
            *("--bootstrap-server", self.bootstrap_servers),
            *("--property", "poll.interval.ms=100"),
        ]

    def listens(self, said: re.Match[str]) -> None:
        self.port = int(said[1])


@pytest.mark.needs("curl")
def test_the_page(tmp_path: Path, start_broker: StartBroker) -> None:
    broker = start_broker()
    monitor = MonitorProcess(broker.bootstrap_servers)
    for command in commands(PAGE):
        if command.line == "headwater monitor server":
            monitor.start()
            continue
        line = command.line.replace(PORT, str(monitor.port))
        asked = command._replace(line=line)
        if line.startswith("curl"):
            _wait_until_it_says(asked.expected, line, broker.bootstrap_servers, tmp_path)
        else:
            run_command(asked, broker.bootstrap_servers, tmp_path)
    monitor.stop()


def _wait_until_it_says(expected: str, line: str, servers: str, directory: Path) -> None:
    """The monitor looks at the cluster in its own time."""
    from tests.docs_page import Command

    def is_right() -> bool:
        try:
            run_command(Command(line, expected), servers, directory)
        except AssertionError:
            return False
        return True

    wait_for(is_right, line)


def test_all_verdicts_are_on_the_page() -> None:
    from headwater.monitor.verdicts import Status

    told = {line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if "|" in line}
    assert {status.name for status in Status} - {"NOTFOUND", "ERR"} <= told
