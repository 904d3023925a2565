"""The security lab, from its first command to its last, with the files that the page shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.docs_page import ROOT, Command, blocks, commands, run_command
from tests.secured_broker import SecuredBroker
from tests.waiting import HUNG_AFTER_S

from headwater.config.properties import parse_properties
from headwater.java.runtime import find_java

PAGE = ROOT / "docs" / "security-lab.md"
START = "headwater broker --config lab.properties"


@pytest.mark.needs("openssl")
def test_the_lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keytool = find_java().java.parent
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{keytool}:{os.environ['PATH']}")
    for text in blocks(PAGE, "properties"):
        name = text.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(text)
    before, after = _parts()
    for command in before:
        _run(command, tmp_path)
    # As it stands on the page it comes up, on a free port; what follows needs to know which.
    run_command(Command(START, ""), "", tmp_path)
    broker = SecuredBroker(tmp_path / "data", {"SSL": "SSL"}, _settings(tmp_path)).start()
    try:
        _run_on(broker, after, tmp_path)
    finally:
        broker.stop()


def _run_on(broker: SecuredBroker, examples: list[Command], directory: Path) -> None:
    for command in examples:
        line = command.line.replace("localhost:9093", broker.address("SSL"))
        expected = command.expected.replace("localhost:9093", broker.address("SSL"))
        _run(Command(line, expected), directory, broker.bootstrap_servers)


def _parts() -> tuple[list[Command], list[Command]]:
    everything = commands(PAGE)
    lines = [command.line for command in everything]
    start = lines.index(START)
    return everything[:start], everything[start + 1 :]


def _settings(directory: Path) -> dict[str, str]:
    settings = parse_properties((directory / "lab.properties").read_text())
    assert settings.pop("listeners") == "PLAINTEXT://localhost:9092,SSL://localhost:9093"
    return {
        name: str(directory / value) if value.endswith(".jks") else value
        for name, value in settings.items()
    }


def _run(command: Command, directory: Path, servers: str = "") -> None:
    """Run a command; where the page says `Error:`, it has to fail and say the rest of that."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command.line],
        cwd=directory, env={**os.environ, "HEADWATER_BOOTSTRAP_SERVER": servers},
        capture_output=True, text=True, timeout=HUNG_AFTER_S, check=False,
    )  # fmt: skip
    told = f"$ {command.line}\n{done.stdout}{done.stderr}"
    refused = re.match(r"Error: (.*)\n", command.expected)
    assert bool(done.returncode) == bool(refused), told
    if refused:
        assert refused[1] in done.stderr, told
    elif command.expected.strip():
        assert done.stdout == command.expected, told
