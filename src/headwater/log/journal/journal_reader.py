"""Read the entries of journal files in the order in which they were written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import google_crc32c

from headwater.log.disk import read_at
from headwater.log.journal.journal_format import (
    BLOCK,
    GROUP_HEADER_SIZE,
    GroupHeader,
    RegionEntry,
    SettledEntry,
    decode_entries,
    decode_group_header,
    group_size,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Entry = RegionEntry | SettledEntry


def read_journal(
    paths: Sequence[Path], tell: Callable[[str], None]
) -> Iterator[tuple[Entry, bytes]]:
    """Yield each entry with its bytes, from the oldest file to the newest; raises OSError.

    A torn end is where the journal ends: nobody was told that it was written. Damage before that
    is told, and left out.
    """
    files = [file for path in paths for file in [_open(path)] if file is not None]
    files.sort(key=lambda file: file.first)
    expected = None
    for file in files:
        if expected is not None and file.first != expected:
            tell(f"The journal lacks groups {expected} to {file.first - 1}, before {file.path}.")
        expected = file.first
        for position, header, data in file.groups():
            if header.number != expected:
                tell(
                    f"{file.path} is damaged before byte {position}: it lacks groups {expected}"
                    f" to {header.number - 1}."
                )
            expected = header.number + 1
            for entry, start in decode_entries(data):
                length = entry.length if isinstance(entry, RegionEntry) else 0
                yield entry, data[start : start + length]


class _File(NamedTuple):
    path: Path
    first: int
    """The number of the first group since it was last cleared."""

    def groups(self) -> Iterator[tuple[int, GroupHeader, bytes]]:
        """Yield the intact groups, each with its position, of the present use alone."""
        number, position = self.first, 0
        with self.path.open("rb") as file:
            fd = file.fileno()
            end = os.fstat(fd).st_size
            while position < end:
                header = _header_at(fd, position)
                if header is not None and header.first == self.first and header.number >= number:
                    data = read_at(fd, header.length, position + GROUP_HEADER_SIZE)
                    if len(data) == header.length and google_crc32c.value(data) == header.crc:
                        yield position, header, data
                        number = header.number + 1
                        position += group_size(header.length)
                        continue
                position += BLOCK


def _open(path: Path) -> _File | None:
    """Find out since when the file is in use; None if it is not, and begins with zeros."""
    with path.open("rb") as file:
        fd = file.fileno()
        if not read_at(fd, BLOCK, 0).strip(b"\0"):
            return None
        header = _header_at(fd, 0)
        if header is not None:
            return _File(path, header.first)
        # The first block is damaged: what lies behind it is of the present use or of one before.
        blocks = range(BLOCK, os.fstat(fd).st_size, BLOCK)
        found = [header for header in (_header_at(fd, at) for at in blocks) if header is not None]
        return _File(path, max(header.first for header in found)) if found else None


def _header_at(fd: int, position: int) -> GroupHeader | None:
    return decode_group_header(read_at(fd, GROUP_HEADER_SIZE, position))
