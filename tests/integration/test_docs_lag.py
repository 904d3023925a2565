"""Every example of the page on lag is run, with the monitor as a process of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.docs_page import ROOT, Command, blocks, commands, run_command
from tests.monitor_process import MonitorProcess
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import StartBroker

PAGE = ROOT / "docs/lag.md"
PORT = "9308"


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

    def is_right() -> bool:
        try:
            run_command(Command(line, expected), servers, directory)
        except AssertionError:
            return False
        return True

    wait_for(is_right, line)


def test_the_rules_on_the_page_are_the_usual_ones(tmp_path: Path) -> None:
    from headwater.monitor.alerts.rule_file import read_rules
    from headwater.monitor.alerts.rules import DEFAULT_RULES

    (rules,) = blocks(PAGE, "toml")
    (tmp_path / "rules.toml").write_text(rules)
    assert read_rules(tmp_path / "rules.toml") == DEFAULT_RULES


def test_all_verdicts_are_on_the_page() -> None:
    from headwater.monitor.verdicts import Status

    told = {line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if "|" in line}
    assert {status.name for status in Status} - {"NOTFOUND", "ERR"} <= told
