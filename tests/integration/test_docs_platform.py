"""Every example of the pages about the whole platform is run, against a platform."""

from __future__ import annotations

import shlex
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from tests.docs_page import ROOT, Command, blocks, commands, run_command, run_python
from tests.platform_process import PlatformProcess
from tests.unit.up.supervised import Supervised

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlatformProcess]:
    with PlatformProcess(tmp_path_factory.mktemp("platform")) as running:
        yield running
        running.stop()


def test_serialisers_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = commands(ROOT / "docs/serialisers.md")
    assert len(examples) == 10
    # The ids on the page are those of a platform that nobody else has used.
    with PlatformProcess(tmp_path) as platform:
        monkeypatch.setenv("HEADWATER_REGISTRY", platform.registry_url)
        for command in examples:
            run_command(command, platform.bootstrap_servers, tmp_path)
        platform.stop()


def test_serialisers_in_python(platform: PlatformProcess, tmp_path: Path) -> None:
    examples = blocks(ROOT / "docs/serialisers.md", "python")
    assert len(examples) == 5
    for code in examples:
        code = code.replace("http://localhost:8081", platform.registry_url)
        run_python(code.replace("localhost:9092", platform.bootstrap_servers), tmp_path)


STATUS = "headwater up --status"
LEVEL = "/admin/loggers/"
UP = [
    each for each in commands(ROOT / "docs/up.md") if each.line != STATUS and LEVEL not in each.line
]


def test_the_status_of_a_platform(platform: PlatformProcess, tmp_path: Path) -> None:
    assert STATUS in [each.line for each in commands(ROOT / "docs/up.md")]
    line = f"{STATUS} --data {platform.directory / 'platform'}"
    run_command(Command(line, ""), platform.bootstrap_servers, tmp_path)


def test_a_level_of_a_running_service(platform: PlatformProcess, tmp_path: Path) -> None:
    (command,) = (each for each in commands(ROOT / "docs/up.md") if LEVEL in each.line)
    line = command.line.replace("http://localhost:8081", platform.registry_url)
    run_command(Command(line, command.expected), platform.bootstrap_servers, tmp_path)


@pytest.mark.parametrize("command", UP, ids=lambda each: each.line)
def test_up(command: Command, tmp_path: Path) -> None:
    arguments = shlex.split(command.line)
    assert arguments[0] == "headwater"
    assert "up" in arguments
    if "--data" not in arguments:
        arguments += ["--data", str(tmp_path / "data")]
    # The console costs more to start than all the others, and none of these options is about it.
    if any(option in arguments for option in ("--port-offset", "--property", "--with", "json")):
        arguments += ["--without", "console"]
    with Supervised(
        [sys.executable, "-m", "headwater", *arguments[1:], "--free-ports"], tmp_path
    ) as up:
        if "json" in arguments:
            up.wait_for('"message": "registry listens on http')
        elif "--without registry" in command.line:
            up.wait_for(r"^broker\t127\.0\.0\.1:\d+\tKafka protocol$")
        else:
            up.wait_for(r"^registry\thttps?://127\.0\.0\.1:\d+\tSchema Registry$")
        up.signal(signal.SIGINT)
        assert up.wait() == 0
        assert up.survivors() == []


def test_the_settings_file(tmp_path: Path) -> None:
    (text,) = blocks(ROOT / "docs/up.md", "toml")
    (tmp_path / "headwater.toml").write_text(text)
    with PlatformProcess(tmp_path) as running:
        running.stop()
