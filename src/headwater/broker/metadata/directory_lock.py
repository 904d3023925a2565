"""The `.lock` file of a data directory: two brokers must never write the same log."""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class DirectoryInUse(Exception):  # noqa: N818 - it states the fact
    """Another process holds the data directory."""


class DirectoryLock:
    """Holds a data directory until released or until the process ends, however it ends."""

    def __init__(self, directory: Path) -> None:
        path = directory / ".lock"
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._fd, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._fd)
            raise DirectoryInUse(
                f"{directory} is in use by another broker (process {holder}); "
                "stop that one or choose another directory with --data"
            ) from None
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let another broker have the directory."""
        os.close(self._fd)
