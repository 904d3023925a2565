"""The file system as a whole: where its sync can be relied on, and what it says."""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING

import pytest

from headwater.log import file_system as module
from headwater.log.file_system import FileSystem

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="syncfs(2) is a call of Linux")


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Says what is mounted where, and the system is a recent one."""
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(module, "_MOUNTS", mounts)
    monkeypatch.setattr(module, "_linux_version", lambda: (6, 1))
    return mounts


def mount(directory: Path, kind: str) -> str:
    device = directory.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    return f"36 35 {number} / /data rw,noatime shared:1 - {kind} /dev/sda rw\n"


OTHER = "37 35 4095:9 / /proc rw - proc proc rw\n"


@pytest.mark.parametrize(
    ("kind", "is_trusted"), [("ext4", True), ("xfs", True), ("overlay", False), ("nfs4", False)]
)
def test_only_file_systems_that_tell_of_failed_writes_are_trusted(
    tmp_path: Path, mounted: Path, kind: str, is_trusted: bool
) -> None:
    mounted.write_text(OTHER + mount(tmp_path, kind))
    assert (FileSystem.under(tmp_path) is not None) == is_trusted


def test_what_is_not_known_is_not_trusted(
    tmp_path: Path, mounted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert FileSystem.under(tmp_path) is None
    mounted.write_text(OTHER)
    assert FileSystem.under(tmp_path) is None
    mounted.write_text(mount(tmp_path, "ext4") + mount(tmp_path, "overlay"))
    assert FileSystem.under(tmp_path) is None
    mounted.write_text(mount(tmp_path, "ext4"))
    monkeypatch.setattr(module, "_linux_version", lambda: (5, 7))
    assert FileSystem.under(tmp_path) is None


def test_it_knows_what_is_on_it(tmp_path: Path) -> None:
    file_system = FileSystem(tmp_path)
    (tmp_path / "orders-0").mkdir()
    assert file_system.has(tmp_path / "orders-0")
    (tmp_path / "orders-1").symlink_to("/proc")
    assert not file_system.has(tmp_path / "orders-1")


def test_a_sync_works_or_says_why_not(tmp_path: Path) -> None:
    file_system = FileSystem(tmp_path)
    (tmp_path / "file").write_bytes(b"content")
    file_system.sync()
    file_system.close()
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        file_system.sync()
