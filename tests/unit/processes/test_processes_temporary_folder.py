"""Folders in the temporary directory: gone at the end, or with the next one after a kill."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import pytest

from headwater.processes.temporary_folder import TemporaryFolder

if TYPE_CHECKING:
    from pathlib import Path

HOLDS = """
import time
from headwater.processes.temporary_folder import TemporaryFolder
folder = TemporaryFolder("held")
(folder.path / "file").touch()
print(folder.path, flush=True)
time.sleep(600)
"""


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_it_is_there_until_it_is_closed(directory: Path) -> None:
    with TemporaryFolder("demo") as path:
        assert path.parent == directory
        assert path.name.startswith("headwater-demo-")
        (path / "data").mkdir()
    assert [*directory.iterdir()] == []
    forgotten = TemporaryFolder("demo").path
    assert not forgotten.exists()


def test_what_a_killed_process_left_goes_with_the_next_one(directory: Path) -> None:
    (directory / "headwater-of-the-user").mkdir()
    (directory / "headwater-file.tmp").touch()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        env={"TMPDIR": str(directory)},
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        held = directory / holder.stdout.readline().strip()
        with TemporaryFolder("one"):
            assert (held / "file").exists(), "its owner lives"
        holder.kill()
    with TemporaryFolder("another"):
        assert not held.exists()
    assert sorted(each.name for each in directory.iterdir()) == [
        "headwater-file.tmp",
        "headwater-of-the-user",
    ]
