"""A page of the documentation as a test: its Python runs, its commands print what it says."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from headwater.config.properties import parse_properties

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TIMEOUT_S = 120


class Command(NamedTuple):
    """A line after `$ `, and what the page says that it prints."""

    line: str
    expected: str


def blocks(page: Path, language: str) -> list[str]:
    """Return the code blocks of a page that are in this language."""
    return [code for kind, code in _BLOCK.findall(page.read_text()) if kind == language]


def needs_spark(code: str) -> bool:
    """Tell whether a block starts Spark; such blocks are run where there is a session for all."""
    return "TopologyDriver" in code


def commands(page: Path) -> list[Command]:
    """Return the commands of a page's console blocks, in order."""
    found = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, output = part.replace("\\\n", " ").partition("\n")
            found.append(Command(line.split("  # ")[0].strip(), output))
    return found


def run_python(code: str, directory: Path) -> None:
    """Run a block as its own program, or under pytest if it is a test."""
    is_test = "def test_" in code
    path = directory / ("test_from_page.py" if is_test else "from_page.py")
    path.write_text(code)
    runner = ["-m", "pytest", "-q", "-p", "no:cacheprovider"] if is_test else []
    done = subprocess.run(
        [sys.executable, *runner, str(path)],
        cwd=directory, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{code}\n{done.stdout}{done.stderr}"


def run_command(command: Command, bootstrap_servers: str, directory: Path) -> None:
    """Run a command against a broker and compare what it prints, if the page says what."""
    line = command.line.replace("localhost:9092", bootstrap_servers)
    environment = {
        **os.environ,
        "HEADWATER_BOOTSTRAP_SERVER": bootstrap_servers,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    if shlex.split(line)[:2] == ["headwater", "broker"]:
        _run_server(line, environment, directory)
        return
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", line],
        cwd=directory, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"$ {line}\n{done.stdout}{done.stderr}"
    if command.expected.strip():
        assert done.stdout == command.expected, f"$ {line}"


def on_free_ports(arguments: list[str], directory: Path) -> list[str]:
    """Return a broker's command with each listener on a port that the system gives it.

    Nobody else can have that one: it is found by the broker itself, which keeps it.
    """
    given = [each for each in arguments if each.startswith("listeners=")]
    if given:
        return [_any_port(each) if each in given else each for each in arguments]
    if "--config" in arguments:
        file = directory / arguments[arguments.index("--config") + 1]
        listeners = parse_properties(file.read_text()).get("listeners")
        if listeners is not None:
            return [*arguments, "--property", _any_port(f"listeners={listeners}")]
    return [*arguments, "--port", "0"]


def _any_port(listeners: str) -> str:
    return re.sub(r":\d+(?=,|$)", ":0", listeners)


def _run_server(line: str, environment: dict[str, str], directory: Path) -> None:
    """Start a broker as the page says, but on free ports and with data of its own."""
    own = shlex.split(line.replace("0.0.0.0:9092", "127.0.0.1:9092"))
    arguments = on_free_ports(own, directory)
    server = subprocess.Popen(
        [*arguments, "--data", str(directory / "other-data")],
        cwd=directory, env=environment, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stderr is not None
    try:
        printed = []
        for text in server.stderr:
            printed.append(text)
            if "listening on" in text:
                break
        else:
            raise AssertionError(f"$ {line}\n{''.join(printed)}")
    finally:
        server.send_signal(signal.SIGTERM)
        server.stderr.close()
        assert server.wait(_TIMEOUT_S) == 0
