"""The doctor, with a real broker, without one, and with programs that would not start."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from tests.cli_command import Cli
from tests.docs_page import ROOT, commands

from headwater.testing import Broker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROGRAM = """
from headwater.streams import App

app = App("alerts")
app.stream("{topic}", key="string", value="string").to("out")
"""


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as broker:
        broker.create_topic("orders", partitions=2)
        yield broker


def alone(bootstrap_servers: str, home: Path) -> Cli:
    """A user of whom no platform runs: those of other tests come and go."""
    cli = Cli(bootstrap_servers)
    cli.environment["HOME"] = str(home)
    return cli


def findings(text: str, area: str) -> list[tuple[str, str]]:
    found: list[dict[str, Any]] = json.loads(text)
    return [(each["level"], each["what"]) for each in found if each["area"] == area]


def test_a_broker_that_is_well(broker: Broker, tmp_path: Path) -> None:
    said = findings(alone(broker.bootstrap_servers, tmp_path).ok("doctor", "--json"), "cluster")
    assert said[0] == (
        "ok",
        f"brokers 1 at {broker.bootstrap_servers}; 1 topics with 2 partitions",
    )
    assert {level for level, _ in said} <= {"ok", "warning"}  # the disk may be full


def test_a_broker_that_is_not_there_is_a_problem(tmp_path: Path) -> None:
    done = alone("127.0.0.1:1", tmp_path)("doctor", "--json")
    assert done.code == 1
    ((level, what),) = findings(done.out, "cluster")
    assert level == "problem"
    assert "127.0.0.1:1 failed" in what


@pytest.mark.parametrize(
    ("topic", "code", "what"),
    [
        ("orders", 0, "all topics that it reads are there"),
        ("order", 1, "there is no topic 'order'"),
    ],
)
def test_a_program(broker: Broker, tmp_path: Path, topic: str, code: int, what: str) -> None:
    program = tmp_path / "alerts.py"
    program.write_text(PROGRAM.format(topic=topic))
    done = alone(broker.bootstrap_servers, tmp_path)("doctor", "--program", str(program), "--json")
    assert done.code == code, done.out
    assert any(what in said for _, said in findings(done.out, "program")), done.out


def test_a_program_with_a_mistake(broker: Broker, tmp_path: Path) -> None:
    program = tmp_path / "alerts.py"
    program.write_text("from headwater.streams import App\n\napp = App(5)\n")
    done = alone(broker.bootstrap_servers, tmp_path)("doctor", "--program", str(program))
    assert done.code == 1
    assert f"{program}:3" in done.out
    assert "1 problem" in done.out


def test_the_page(broker: Broker, tmp_path: Path) -> None:
    page = ROOT / "docs/doctor.md"
    (tmp_path / "alerts.py").write_text(PROGRAM.format(topic="orders"))
    cli = alone(broker.bootstrap_servers, tmp_path)
    for command in commands(page):
        arguments = shlex.split(command.line)
        assert arguments[:2] == ["headwater", "doctor"]
        cli.ok(*(arg.replace("alerts.py", str(tmp_path / "alerts.py")) for arg in arguments[1:]))
