"""The file system under a data directory: one sync for all files, which tells of failed writes.

    file_system = FileSystem.under(Path("data"))
    ...                       # thousands of files are written
    file_system.sync()        # all of them are on disk, or OSError says that some may not be

It is a matter of milliseconds for files whose own syncs would take seconds.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Self

_SINCE = (5, 8)
"""The Linux whose syncfs(2) first told of writes that had failed."""

_TRUSTED = frozenset({"ext4", "xfs"})
"""Where it does. Overlays, for one, do not hand on what the file system below them knows."""

_MOUNTS = Path("/proc/self/mountinfo")


class FileSystem:
    """Has been open since before the writes that a sync is about, so that it hears of all."""

    def __init__(self, directory: Path) -> None:
        self._fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._device = os.fstat(self._fd).st_dev

    @classmethod
    def under(cls, directory: Path) -> Self | None:
        """Open the one that a directory is on; None if its syncs cannot be relied on."""
        if sys.platform != "linux" or _linux_version() < _SINCE:
            return None
        return cls(directory) if _kind(directory) in _TRUSTED else None

    def has(self, directory: Path) -> bool:
        """Whether a directory is on it: one may have been moved and linked to."""
        return os.stat(directory).st_dev == self._device  # noqa: PTH116 - for every partition

    def sync(self) -> None:
        """Bring all files to disk, names included; OSError if a write has failed since the start.

        What failed is not said: each file's own sync has to tell.
        """
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        if libc.syncfs(self._fd):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        self.close()


def _linux_version() -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))


def _kind(directory: Path) -> str | None:
    """Name the kind of file system that a directory is on, if the system knows."""
    device = directory.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        mounts = _MOUNTS.read_text(errors="replace").splitlines()
    except OSError:
        return None
    # 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
    kinds = {line.partition(" - ")[2].split(" ")[0] for line in mounts if f" {wanted} /" in line}
    return kinds.pop() if len(kinds) == 1 else None
