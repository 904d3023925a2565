"""The witness-protection office: all its parts, killed and counted, and the lab by curl."""

from __future__ import annotations

import json
import tempfile
from typing import TYPE_CHECKING

import psutil
from examples.mariadb import is_installed
from examples.witness.office import CONNECTOR, HERE, Office, office
from examples.witness.people import AGENT
from examples.witness.program import EVENTS
from examples.witness.story import connect, forget, move, see_each_once
from tests.conftest import unmet
from tests.docs_page import ROOT, blocks, commands, run_command
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = ROOT / "docs/example-witness.md"
FILES = ("bulk.json", "incrementing.json")


def test_no_event_is_lost_or_doubled_and_the_agent_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not is_installed():
        unmet("mariadbd is not installed")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with office("--free-ports") as opened:
        connect(opened)
        opened.start_program()
        move(opened, 8)
        see_each_once(opened)
        running = opened.platform.process
        assert running is not None
        killed = [below(running.child.pid, "spark-services")]
        assert opened.program is not None
        killed += [psutil.Process(opened.program.child.pid), database(opened)]
        move(opened, 8)
        for each in killed:
            each.kill()
        wait_for(lambda: not opened.register.server.is_running)
        opened.look_after()
        move(opened, 8)
        see_each_once(opened)
        told = capsys.readouterr().out
        assert "the program has ended, and is started again" in told
        assert "incrementing: 25 rows are 25 records" in told

        # The check would find him: it does before he is forgotten.
        assert opened.files_with(AGENT.identifier)
        forget(opened)
        assert AGENT.identifier not in {each.key for each in opened.records(EVENTS)}
        lab_by_hand(opened, tmp_path)
    assert [*tmp_path.glob("headwater-*")] == []


def lab_by_hand(opened: Office, folder: Path) -> None:
    """The page's commands, on another platform than it has."""
    url = opened.platform.endpoints["connect"]
    delete = f"curl -sf -X DELETE {url}/connectors/{CONNECTOR}"
    first, *steps = commands(PAGE)
    assert first.line == "python -m examples.witness"
    assert len(steps) == 8
    printed = blocks(PAGE, "json")
    for name, text in zip(FILES, printed, strict=True):
        assert json.loads(text) == json.loads((HERE / name).read_text())
        moved = text.replace("jdbc:mysql://mariadb:3306/events", opened.register.url)
        (folder / name).write_text(moved)
    run_command(first._replace(line=delete), opened.platform.servers, folder)
    for step in steps:
        line = step.line.replace("http://localhost:8083", url)
        line = f"{line} && echo" if step.expected else line
        run_command(step._replace(line=line), opened.platform.servers, folder)
    for name in ("created", "changed"):
        config = json.loads((folder / f"{name}.json").read_text())["config"]
        assert config["poll.interval.ms"].isdigit()


def database(opened: Office) -> psutil.Process:
    """The process that listens where the register is."""
    return below(psutil.Process().pid, f"--port={opened.register.server.port}")


def below(pid: int, argument: str) -> psutil.Process:
    """The process below another one that was started with this argument."""
    for child in psutil.Process(pid).children(recursive=True):
        if argument in child.cmdline():
            return child
    raise AssertionError(f"nobody below {pid} was started with {argument}")
