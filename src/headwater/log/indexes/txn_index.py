"""The `.txnindex` of a segment: its aborted transactions, so that readers can leave them out.

Entries are ordered by the offset of their abort marker. Most segments have no such file: it is
made when the first abort marker is written.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from headwater.log.open_files import FileHolder

if TYPE_CHECKING:
    from collections.abc import Iterator


class AbortedTxn(NamedTuple):
    """One aborted transaction: its first record, its marker, and the LSO after the marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class TransactionIndex(FileHolder):
    """Aborted transactions of one segment, in Kafka's file format."""

    __slots__ = ("_size", "path")

    def __init__(self, path: str, size: int = 0) -> None:
        super().__init__()
        self.path = path
        # A write that was cut short by a crash leaves part of an entry, which is written over.
        self._size = size // ENTRY_SIZE * ENTRY_SIZE

    @classmethod
    def load(cls, path: str) -> TransactionIndex:
        """Take over the entries of a file, if there is one."""
        try:
            return cls(path, os.stat(path).st_size)  # noqa: PTH116 - for every partition
        except FileNotFoundError:
            return cls(path)

    def __len__(self) -> int:
        return self._size // ENTRY_SIZE

    def __bool__(self) -> bool:
        return self._size > 0

    def __iter__(self) -> Iterator[AbortedTxn]:
        return self._entries(0)

    @property
    def file_path(self) -> str:
        """Where the file is at present."""
        return self.path

    def append(self, aborted: AbortedTxn) -> None:
        """Add an aborted transaction, whose marker is after all that are there; raises OSError."""
        file = self.file if self._size else self.create_file()
        file.write(_ENTRY.pack(_VERSION, *aborted), self._size)
        self._size += ENTRY_SIZE

    def take_back(self) -> None:
        """Undo the last `append`."""
        self._size -= ENTRY_SIZE

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
        if self._size:
            self._size = self._first_ending_at(offset) * ENTRY_SIZE
            self.file.truncate(self._size)

    def sync(self) -> None:
        """Bring the entries to disk."""
        if self._size:
            self.file.sync()

    def _entries(self, number: int) -> Iterator[AbortedTxn]:
        while number < len(self):
            count = min(_READ_AHEAD, len(self) - number)
            data = self.file.read(count * ENTRY_SIZE, number * ENTRY_SIZE)
            for fields in _ENTRY.iter_unpack(data):
                yield AbortedTxn._make(fields[1:])
            number += count

    def _first_ending_at(self, offset: int) -> int:
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            data = self.file.read(ENTRY_SIZE, middle * ENTRY_SIZE)
            if AbortedTxn._make(_ENTRY.unpack(data)[1:]).last_offset < offset:
                low = middle + 1
            else:
                high = middle
        return low


_VERSION = 0
_ENTRY = struct.Struct(">hqqqq")
ENTRY_SIZE = _ENTRY.size
_READ_AHEAD = 64
