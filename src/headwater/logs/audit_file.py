"""The audit log as a file: whole lines, rotated, and no reason to stop when the disk is full."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_TAIL_BYTES = 1 << 16


class AuditFile:
    """Appends lines; `PATH` becomes `PATH.1`, `PATH.1` becomes `PATH.2` and so on when it is full.

    Only one thread may use it. A line that a crash or a full disk has cut short is taken away.
    """

    def __init__(self, path: Path, max_bytes: int, backups: int) -> None:
        """Open the file, and make it if need be; raises OSError."""
        self._path = path
        self._max_bytes = max_bytes
        self._backups = backups
        self._open()
        self._cut_torn_line()

    def write(self, lines: bytes) -> None:
        """Append whole lines, all or none of them; raises OSError."""
        if self._size and self._size + len(lines) > self._max_bytes:
            self._rotate()
        try:
            written = 0
            while written < len(lines):
                written += os.write(self._fd, lines[written:])
        except OSError:
            with suppress(OSError):  # what cannot be cut now is cut at the next start
                os.ftruncate(self._fd, self._size)
            raise
        self._size += len(lines)

    def close(self) -> None:
        """Bring it to disk and let go of it."""
        with suppress(OSError):  # a pipe or a device has nothing to bring to disk
            os.fsync(self._fd)
        os.close(self._fd)

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._fd = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._fd).st_size

    def _rotate(self) -> None:
        if self._backups == 0:
            os.ftruncate(self._fd, 0)
            self._size = 0
            return
        for number in range(self._backups - 1, 0, -1):
            with suppress(FileNotFoundError):
                self._numbered(number).replace(self._numbered(number + 1))
        self._path.replace(self._numbered(1))
        os.close(self._fd)
        self._open()

    def _numbered(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def _cut_torn_line(self) -> None:
        start = max(0, self._size - _TAIL_BYTES)
        tail = os.pread(self._fd, self._size - start, start) if self._size else b""
        if tail and not tail.endswith(b"\n"):
            self._size = start + tail.rfind(b"\n") + 1
            os.ftruncate(self._fd, self._size)
