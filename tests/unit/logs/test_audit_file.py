"""The audit log's file: whole lines, whatever happens to the process or the disk."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from headwater.logs.audit_file import AuditFile

if TYPE_CHECKING:
    from pathlib import Path


def test_lines_are_added_for_the_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    for line in (b"one\n", b"two\n"):
        file = AuditFile(path, 1024, 1)
        file.write(line)
        file.close()
    assert path.read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_full_files_are_renamed_and_the_oldest_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    file = AuditFile(path, 5, 2)
    for number in range(5):
        file.write(b"%d\n" % number * 2)
    file.close()
    kept = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    assert kept == {"audit.log": b"4\n4\n", "audit.log.1": b"3\n3\n", "audit.log.2": b"2\n2\n"}
    alone = AuditFile(tmp_path / "alone.log", 5, 0)
    for number in range(3):
        alone.write(b"%d\n" % number * 2)
    alone.close()
    assert (tmp_path / "alone.log").read_bytes() == b"2\n2\n"


@pytest.mark.parametrize("torn", [b'{"ti', b"x" * 70_000])
def test_what_a_crash_cut_short_is_taken_away(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(b"whole\n" + torn[:60_000])
    file = AuditFile(path, 1 << 20, 1)
    file.write(b"next\n")
    file.close()
    assert path.read_bytes() == b"whole\nnext\n"


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "audit.log"
    file = AuditFile(path, 1024, 1)
    file.write(b"before\n")
    write, room = os.write, [3]

    def until_full(fd: int, data: bytes) -> int:
        if not room:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(fd, data[: room.pop()])

    monkeypatch.setattr(os, "write", until_full)
    with pytest.raises(OSError, match="No space"):
        file.write(b"lost in part\n")
    assert path.read_bytes() == b"before\n"
    monkeypatch.undo()
    file.write(b"after\n")
    file.close()
    assert path.read_bytes() == b"before\nafter\n"
