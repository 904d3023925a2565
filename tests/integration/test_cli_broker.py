"""`headwater broker` and `headwater demo`: the processes, their options and how they end."""

from __future__ import annotations

import re
import signal
import socket
from typing import TYPE_CHECKING

import psutil
import pytest
from tests.cli_command import HUNG_AFTER_S, Cli, Running
from tests.processes import wait_until_ended

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cli() -> Cli:
    return Cli("127.0.0.1:1")


def _wait_until_ready(running: Running) -> str:
    for line in running.stderr:
        if match := re.search(r"listening on (\S+:\d+)", line):
            return match[1]
    raise AssertionError("the broker ended before it was ready")


def test_it_listens_on_the_loopback_interface_only_by_default(cli: Cli, tmp_path: Path) -> None:
    with cli.start("broker", "--port", 0, "--data", tmp_path / "data") as running:
        address = _wait_until_ready(running)
        assert address.startswith("127.0.0.1:")
        assert Cli(address).ok("topics", "list", "--exclude-internal") == ""
        assert running.interrupt() == 0


def test_settings_from_a_file_and_from_options(cli: Cli, tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text("num.partitions=3\nlog.segment.bytes=2000000\n")
    with cli.start(
        *("broker", "--port", 0, "--data", tmp_path / "data", "--config", properties),
        *("--property", "num.partitions=4"),
    ) as running:
        there = Cli(_wait_until_ready(running))
        settings = there.json("configs", "describe", "--broker", 1, "--all")
        assert settings["num.partitions"]["value"] == "4"
        assert settings["log.segment.bytes"]["value"] == "2000000"
        assert settings["log.segment.bytes"]["source"] == "STATIC_BROKER_CONFIG"


def test_settings_from_the_environment_and_a_warning_of_those_without_effect(
    cli: Cli, tmp_path: Path
) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text("num.partitions=3\nnum.network.threads=9\n")
    cli.environment["HEADWATER_BROKER_NUM_PARTITIONS"] = "6"
    data = ("--data", tmp_path / "data", "--config", properties)
    with cli.start("broker", "--port", 0, *data) as running:
        said = []
        for line in running.stderr:
            said.append(line)
            if match := re.search(r"listening on (\S+:\d+)", line):
                break
        assert match is not None
        settings = Cli(match[1]).json("configs", "describe", "--broker", 1, "--all")
        assert settings["num.partitions"]["value"] == "6"
    (warning,) = [line for line in said if "no effect" in line]
    assert "WARNING" in warning
    assert warning.rstrip().endswith(": num.network.threads")


def test_a_wrong_setting_is_told_with_its_place(cli: Cli, tmp_path: Path) -> None:
    properties = tmp_path / "server.properties"
    properties.write_text("# mine\nnum.partitions=many\n")
    refused = cli("broker", "--data", tmp_path / "data", "--config", properties)
    assert refused.code == 2
    message = "Invalid value many for configuration num.partitions: it is not a whole number"
    assert f"{properties}, line 2: {message}" in refused.err
    cli.environment["HEADWATER_BROKER_FLUSH"] = "sometimes"
    refused = cli("broker", "--data", tmp_path / "data")
    assert refused.code == 2
    assert "environment variable HEADWATER_BROKER_FLUSH: Invalid value sometimes" in refused.err
    assert "one of fsync, os" in refused.err


def test_settings_from_toml(cli: Cli, tmp_path: Path) -> None:
    toml = tmp_path / "headwater.toml"
    toml.write_text(
        "[up]\nport-offset = 7\n"
        '[broker]\nnum.partitions = 5\nlisteners = ["PLAINTEXT://127.0.0.1:0"]\n'
    )
    with cli.start("broker", "--data", tmp_path / "data", "--config", toml) as running:
        there = Cli(_wait_until_ready(running))
        settings = there.json("configs", "describe", "--broker", 1, "--all")
        assert settings["num.partitions"]["value"] == "5"


def test_a_port_that_is_taken(cli: Cli, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = cli("broker", "--port", port, "--data", tmp_path / "data")
    assert refused.code == 1
    assert f"can't start: port {port} of 127.0.0.1 cannot be listened on" in refused.err
    assert "(Address already in use); stop what listens there" in refused.err
    assert "Errno" not in refused.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--property", "num.partitions=many"], "num.partitions"),
        (["--property", "no.such.setting=1"], "no.such.setting"),
        (["--property", "num.partitions"], "not of the form NAME=VALUE"),
        (["--port", "70000"], "70000"),
        (["--port", "1", "--property", "listeners=PLAINTEXT://:1"], "not both"),
        (["--config", "no-such-file"], "no-such-file"),
    ],
)
def test_wrong_options(cli: Cli, tmp_path: Path, arguments: list[str], message: str) -> None:
    refused = cli("broker", "--data", tmp_path / "data", *arguments)
    assert refused.code == 2
    assert message in refused.err


def test_wrong_toml(cli: Cli, tmp_path: Path) -> None:
    toml = tmp_path / "wrong.toml"
    toml.write_text("= nothing")
    refused = cli("broker", "--config", toml)
    assert refused.code == 2
    assert "wrong.toml" in refused.err


def test_the_demo_shows_records_and_ends_by_itself(cli: Cli) -> None:
    out = cli.ok("demo", "--seconds", 2, "--port", 0, "--rate", 20)
    address = re.search(r"listens on (127\.0\.0\.1:\d+)", out)
    assert address is not None
    assert f"--bootstrap-server {address[1]}" in out
    assert f"kcat -b {address[1]}" in out
    produced, consumed = _summary(out)
    assert produced == consumed == len(re.findall(r"^\d\d:\d\d:\d\d .* °C ", out, re.MULTILINE))
    assert produced > 0
    _assert_nobody_listens(address[1])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_ends_cleanly_when_asked_to(cli: Cli, number: signal.Signals) -> None:
    with cli.start("demo", "--port", 0, "--rate", 50) as running:
        lines = []
        while "°C" not in (line := running.stdout.readline()):
            assert line, running.stderr.read()
            lines.append(line)
        running.process.send_signal(number)
        rest = running.stdout.read()
        assert running.process.wait(HUNG_AFTER_S) == 0
        assert running.stderr.read() == ""
    produced, consumed = _summary(rest)
    assert produced == consumed > 0
    address = re.search(r"listens on (127\.0\.0\.1:\d+)", "".join(lines))
    assert address is not None
    _assert_nobody_listens(address[1])


def test_nothing_outlives_a_killed_demo(cli: Cli, tmp_path: Path) -> None:
    cli.environment["TMPDIR"] = str(tmp_path)
    with cli.start("demo", "--port", 0) as running:
        assert "listens on" in running.stdout.readline(), running.stderr.read()
        started = [child.pid for child in psutil.Process(running.process.pid).children()]
        assert started
        running.process.kill()
    wait_until_ended(started)
    assert [*tmp_path.iterdir()], "what it could not remove any more"
    cli.ok("demo", "--port", 0, "--seconds", 0)
    assert [*tmp_path.iterdir()] == [], "the next one removes it"


def test_the_demo_on_a_port_that_is_taken(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = cli("demo", "--port", taken.getsockname()[1], "--seconds", 1)
    assert refused.code == 1
    assert "Address already in use" in refused.err


def _summary(out: str) -> tuple[int, int]:
    match = re.search(r"(\d+) readings produced, (\d+) consumed", out)
    assert match is not None, out
    return int(match[1]), int(match[2])


def _assert_nobody_listens(address: str) -> None:
    host, port = address.split(":")
    with socket.socket() as probe:
        assert probe.connect_ex((host, int(port))) != 0
