"""Every example of the page about schemas is run, and its tables are true."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.docs_page import ROOT, blocks, commands, run_command, run_python
from tests.integration.test_registry_evolution import AVRO, JSON, PROTOBUF, Row
from tests.registry_process import RegistryProcess

from headwater.registry.config import RegistryConfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.broker_process import BrokerProcess

PAGE = ROOT / "docs/schemas.md"
URL = "http://localhost:8081"


def test_examples(tmp_path: Path, start_broker: Callable[..., BrokerProcess]) -> None:
    broker = start_broker()
    registry = RegistryProcess(broker.bootstrap_servers).start()
    programs = blocks(PAGE, "python")
    examples = commands(PAGE)
    assert (len(programs), len(examples)) == (2, 13)
    run_python(programs[0].replace(URL, registry.url), tmp_path)
    for command in examples:
        if shlex.split(command.line)[:2] == ["headwater", "registry"]:
            run_registry(command.line, broker.bootstrap_servers, tmp_path)
            continue
        # What curl prints has no newline at its end.
        line = f"{command.line} && echo" if command.line.startswith("curl") else command.line
        moved = command._replace(line=line.replace(URL, registry.url))
        run_command(moved, broker.bootstrap_servers, tmp_path)
    run_python(programs[1].replace(URL, registry.url), tmp_path)
    registry.stop()


def run_registry(line: str, bootstrap_servers: str, directory: Path) -> None:
    """Start a registry as the page says, but on a free port."""
    moved = line.replace("--port 8081", "").replace("localhost:9092", bootstrap_servers)
    process = subprocess.Popen(
        [*shlex.split(moved), "--port", "0"],
        cwd=directory,
        env={
            **os.environ,
            "HEADWATER_BOOTSTRAP_SERVER": bootstrap_servers,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        },
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process.stderr as lines:
        printed = []
        for text in lines:
            printed.append(text)
            if "schema registry listening on" in text:
                process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0, f"$ {line}\n{''.join(printed)}"


def table(heading: str) -> list[list[str]]:
    """The rows of the table that starts with a heading."""
    text = PAGE.read_text()
    start = text.index(f"| {heading}")
    lines = text[start:].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("cells", table("change"), ids=lambda cells: cells[0])
def test_the_table_of_changes_is_true(cells: list[str]) -> None:
    change, *verdicts = cells
    rows = [
        find(AVRO, change),
        find(JSON, f"closed: {change}", change),
        find(JSON, f"open: {change}", change),
        find(PROTOBUF, change),
    ]
    for row, verdict in zip(rows, verdicts, strict=True):
        shown = verdict.split("(")[0].split()
        assert ("B" in shown) == (row.backward is None), row.change
        assert ("F" in shown) == (row.forward is None), row.change


def find(rows: list[Row], *names: str) -> Row:
    return next(row for name in names for row in rows if row.change == name)


def test_the_settings_exist_and_have_these_defaults() -> None:
    for name, default, _ in table("setting"):
        for each in re.findall(r"`([^`]+)`", name):
            value = default.strip("`")
            if each == "kafkastore.*":
                continue
            changed = RegistryConfig.from_settings({each: value or "/some/path"})
            if value:
                assert changed == RegistryConfig(), each
