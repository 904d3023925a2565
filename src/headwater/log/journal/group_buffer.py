"""A group of the journal while it is put together, in memory that a disk can take it from."""

from __future__ import annotations

import errno
import mmap
import os
from typing import TYPE_CHECKING

import google_crc32c

from headwater.log.journal.journal_format import (
    ENTRY_HEADER_SIZE,
    GROUP_HEADER_SIZE,
    SettledEntry,
    encode_group_header,
    encode_region,
    encode_settled,
    group_size,
)

if TYPE_CHECKING:
    from headwater.log.flusher import Region
    from headwater.log.journal.journal_format import LogId


class GroupBuffer:
    """Takes entries until it is full; `seal` makes a group of them."""

    def __init__(self, size: int) -> None:
        # Aligned to pages, and without any of them in memory until they are used.
        self._memory = mmap.mmap(-1, group_size(size))
        self._view = memoryview(self._memory)
        self._end = GROUP_HEADER_SIZE

    @property
    def size(self) -> int:
        """Bytes that the group takes in a file."""
        return group_size(self._end - GROUP_HEADER_SIZE)

    @property
    def is_empty(self) -> bool:
        """Whether it has no entries."""
        return self._end == GROUP_HEADER_SIZE

    def has_room(self, length: int) -> bool:
        """Whether a region of so many bytes fits."""
        return self._end + ENTRY_HEADER_SIZE + length <= len(self._memory)

    def add_region(self, log: LogId, region: Region) -> None:
        """Add the bytes that a segment has there, from the page cache; raises OSError."""
        start = self._end + ENTRY_HEADER_SIZE
        self._view[self._end : start] = encode_region(
            log, region.end_offset, region.segment_base, region.position, region.length
        )
        end = self._end + ENTRY_HEADER_SIZE + region.length
        while start < end:
            position = region.position + region.length - (end - start)
            got = os.preadv(region.file.fd, [self._view[start:end]], position)
            if not got:
                raise OSError(errno.EIO, f"the segment {region.segment_base} has become shorter")
            start += got
        self._end = end

    def add_settled(self, log: LogId, offset: int) -> None:
        """Add that all below an offset is in the log's own files."""
        end = self._end + ENTRY_HEADER_SIZE
        self._view[self._end : end] = encode_settled(SettledEntry(log, offset))
        self._end = end

    def seal(self, first: int, number: int) -> memoryview:
        """Return the whole group: its header, its entries, zeros up to the end of the block."""
        length = self._end - GROUP_HEADER_SIZE
        crc = google_crc32c.value(self._memory[GROUP_HEADER_SIZE : self._end])
        self._view[:GROUP_HEADER_SIZE] = encode_group_header(first, number, length, crc)
        end = group_size(length)
        self._view[self._end : end] = bytes(end - self._end)
        return self._view[:end]

    def clear(self) -> None:
        """Begin the next group."""
        self._end = GROUP_HEADER_SIZE
