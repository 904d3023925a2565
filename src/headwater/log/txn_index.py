"""The `.txnindex` of a segment: its aborted transactions, so that readers can leave them out.

Entries are ordered by the offset of their abort marker. Most segments have no such file: it is
made when the first abort marker is written.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from headwater.log.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX = ".txnindex"


class AbortedTxn(NamedTuple):
    """One aborted transaction: its first record, its marker, and the LSO after the marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex:
    """Aborted transactions of one segment, in Kafka's file format."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd = -1
        self._size = 0
        if path.exists():
            self._open()

    def __len__(self) -> int:
        return self._size // ENTRY_SIZE

    def append(self, aborted: AbortedTxn) -> None:
        """Add an aborted transaction; its marker must be after all that are there."""
        try:
            if self._fd < 0:
                self._open()
            entry = _ENTRY.pack(_VERSION, *aborted)
            written = os.pwrite(self._fd, entry, self._size)
            if written != ENTRY_SIZE:
                raise OSError(f"{written} of {ENTRY_SIZE} bytes were written")
        except OSError as error:
            raise StorageError(
                f"Could not write to the transaction index {self.path}: {error}. "
                "Check the disk's space and health."
            ) from error
        self._size += ENTRY_SIZE

    def collect(self, start: int, end: int) -> tuple[list[AbortedTxn], bool]:
        """Find the aborted transactions that overlap the offsets from `start` up to `end`.

        The flag says that no later segment can have another one.
        """
        found: list[AbortedTxn] = []
        for aborted in self._entries(self._first_ending_at(start)):
            if aborted.first_offset < end:
                found.append(aborted)
            if aborted.last_stable_offset >= end:
                return found, True
        return found, False

    def truncate(self, offset: int) -> None:
        """Forget the transactions whose marker is at `offset` or after it."""
        if self._fd >= 0:
            self._size = self._first_ending_at(offset) * ENTRY_SIZE
            os.ftruncate(self._fd, self._size)

    def flush(self) -> None:
        """Bring the entries to disk."""
        if self._fd >= 0:
            os.fdatasync(self._fd)

    def renamed(self, path: Path) -> None:
        """Go on under the path that the file has been given."""
        self.path = path

    def close(self) -> None:
        """Close the file, if there is one."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self._size = 0

    def __iter__(self) -> Iterator[AbortedTxn]:
        return self._entries(0)

    def _open(self) -> None:
        self._fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        # A write that was cut short by a crash leaves part of an entry, which is written over.
        self._size = os.fstat(self._fd).st_size // ENTRY_SIZE * ENTRY_SIZE

    def _entries(self, number: int) -> Iterator[AbortedTxn]:
        while number < len(self):
            data = os.pread(self._fd, _READ_AHEAD * ENTRY_SIZE, number * ENTRY_SIZE)
            count = len(data) // ENTRY_SIZE
            if not count:
                raise StorageError(f"The transaction index {self.path} is shorter than it was.")
            for position in range(0, count * ENTRY_SIZE, ENTRY_SIZE):
                yield _decode(data, position)
            number += count

    def _first_ending_at(self, offset: int) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            data = os.pread(self._fd, ENTRY_SIZE, middle * ENTRY_SIZE)
            if _decode(data, 0).last_offset < offset:
                low = middle + 1
            else:
                high = middle
        return low


_VERSION = 0
_ENTRY = struct.Struct(">hqqqq")
ENTRY_SIZE = _ENTRY.size
_READ_AHEAD = 64


def _decode(data: bytes, position: int) -> AbortedTxn:
    return AbortedTxn._make(_ENTRY.unpack_from(data, position)[1:])
