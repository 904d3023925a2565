"""Which platforms run: found by their data directory, or because there is only one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.processes import wait_until_ended

from headwater.cli.app import headwater
from headwater.cluster.directory import ClusterDirectory
from headwater.cluster.node import Node
from headwater.up.running import (
    DataDirectoryError,
    NotFoundError,
    RunningPlatform,
    all_running,
    announced,
    likely_data,
    running_in,
)

URL = "http://127.0.0.1:1"
RUNS = """
import sys, time
from pathlib import Path
from headwater.up.running import announced
with announced(Path(sys.argv[1]), "http://127.0.0.1:2"):
    print("up", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_it_is_found_while_it_runs(tmp_path: Path) -> None:
    data = tmp_path / "some" / "data"
    assert (running_in(data), all_running()) == (None, [])
    with announced(data, URL):
        platform = RunningPlatform(data, os.getpid(), URL)
        assert (running_in(data), all_running()) == (platform, [platform])
        assert likely_data() == data
        with (
            pytest.raises(DataDirectoryError, match=f"run by process {os.getpid()} already"),
            announced(data, URL),
        ):
            pytest.fail("there can be only one")
    assert (running_in(data), all_running()) == (None, [])
    assert likely_data() == tmp_path / ".headwater" / "up"


def test_one_that_was_killed_is_gone(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with subprocess.Popen(
        [sys.executable, "-c", RUNS, str(data)], stdout=subprocess.PIPE
    ) as platform:
        assert platform.stdout is not None
        platform.stdout.readline()
        assert running_in(data) == RunningPlatform(data, platform.pid, "http://127.0.0.1:2")
        assert likely_data() == data
        with announced(tmp_path / "other", URL):
            with pytest.raises(NotFoundError, match=f"several .* --data: {data}, {tmp_path}/other"):
                likely_data()
            with announced(tmp_path / ".headwater" / "up", URL):
                assert likely_data() == tmp_path / ".headwater" / "up"
        platform.kill()
    wait_until_ended([platform.pid])
    assert running_in(data) is None
    assert all_running() == []
    assert [*(tmp_path / ".headwater" / "running").iterdir()] == []
    with announced(data, URL):
        assert running_in(data) is not None


def test_a_directory_that_cannot_be_had(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(DataDirectoryError, match=r"/file: .*Choose another directory with --data"),
        announced(tmp_path / "file", URL),
    ):
        pytest.fail("a file is no directory")


def test_a_user_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file" / "home"))
    with announced(tmp_path / "data", URL):
        assert running_in(tmp_path / "data") is not None
        assert all_running() == []


def test_no_platform_runs(tmp_path: Path) -> None:
    done = CliRunner().invoke(headwater, ["up", "--status"])
    assert done.exit_code == 1
    assert f"no platform runs in {tmp_path}/.headwater/up. Start one with: headwater up" in (
        done.output
    )


def test_a_platform_that_does_not_answer(tmp_path: Path) -> None:
    with announced(tmp_path / "data", URL):
        done = CliRunner().invoke(headwater, ["up", "--status"])
    assert (done.exit_code, "http://127.0.0.1:1 does not answer: " in done.output) == (1, True)


def test_the_cluster_of_the_platform_that_runs(tmp_path: Path) -> None:
    def status() -> dict[str, object]:
        done = CliRunner().invoke(headwater, ["cluster", "status", "--json"])
        assert done.exit_code == 0, done.output
        document: dict[str, object] = json.loads(done.output)
        return document

    for name in ("elsewhere", "in-file"):
        directory = ClusterDirectory(tmp_path / name / "kafka")
        directory.path.mkdir(parents=True)
        directory.save(name, [Node(1, ("broker", "controller"), "127.0.0.1", 1, 2)])
    with announced(tmp_path / "elsewhere", URL):
        assert status()["cluster_id"] == "elsewhere"
        Path("headwater.toml").write_text('[up]\ndata = "in-file"\n')
        assert status()["cluster_id"] == "in-file"
