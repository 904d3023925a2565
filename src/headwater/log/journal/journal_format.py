"""What is in a journal file: groups of entries, each written and synced with one system call.

A group begins at a multiple of `BLOCK` bytes, so that writing it never touches a block of another
one. Its number is one more than that of the group before, and it names the first one of its file.
What a recycled file had before may follow its last group, and is told from it by that.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

import google_crc32c

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 4096

_GROUP = struct.Struct(">4sqqiI")
_CHECK = struct.Struct(">I")
_ENTRY = struct.Struct(">b16siqqqi")
_MAGIC = b"HWJ1"
_REGION, _SETTLED = 1, 2

GROUP_HEADER_SIZE = _GROUP.size + _CHECK.size
ENTRY_HEADER_SIZE = _ENTRY.size


class LogId(NamedTuple):
    """Which log an entry is about."""

    topic_id: bytes
    partition: int


class RegionEntry(NamedTuple):
    """Bytes of a segment's file; behind the last of their batches comes `end_offset`."""

    log: LogId
    end_offset: int
    segment_base: int
    position: int
    length: int


class SettledEntry(NamedTuple):
    """A log has all below an offset in its own files; what the journal has of it is void."""

    log: LogId
    offset: int


class GroupHeader(NamedTuple):
    """How a group begins."""

    first: int
    """The number of the file's first group."""
    number: int
    length: int
    """Bytes of its entries."""
    crc: int
    """CRC-32C of its entries."""


def encode_region(
    log: LogId, end_offset: int, segment_base: int, position: int, length: int
) -> bytes:
    """Return what precedes the bytes of a region: a `RegionEntry`, field by field."""
    return _ENTRY.pack(
        _REGION, log.topic_id, log.partition, end_offset, segment_base, position, length
    )


def encode_settled(entry: SettledEntry) -> bytes:
    """Return the whole entry."""
    return _ENTRY.pack(_SETTLED, *entry.log, entry.offset, 0, 0, 0)


def encode_group_header(first: int, number: int, length: int, crc: int) -> bytes:
    """Return how a group begins whose entries have so many bytes and this CRC-32C."""
    header = _GROUP.pack(_MAGIC, first, number, length, crc)
    return header + _CHECK.pack(google_crc32c.value(header))


def group_size(length: int) -> int:
    """Return the bytes that a group takes whose entries have so many."""
    return -(-(GROUP_HEADER_SIZE + length) // BLOCK) * BLOCK


def decode_group_header(data: bytes) -> GroupHeader | None:
    """Read the beginning of a block; None if no group begins there."""
    if len(data) < GROUP_HEADER_SIZE or not data.startswith(_MAGIC):
        return None
    if _CHECK.unpack_from(data, _GROUP.size)[0] != google_crc32c.value(data[: _GROUP.size]):
        return None
    return GroupHeader(*_GROUP.unpack_from(data)[1:])


def decode_entries(data: bytes) -> Iterator[tuple[RegionEntry | SettledEntry, int]]:
    """Yield the entries of an intact group, each with the place of its bytes in `data`."""
    position = 0
    while position < len(data):
        kind, topic_id, partition, *rest = _ENTRY.unpack_from(data, position)
        position += ENTRY_HEADER_SIZE
        log = LogId(topic_id, partition)
        if kind == _SETTLED:
            yield SettledEntry(log, rest[0]), position
            continue
        entry = RegionEntry(log, *rest)
        yield entry, position
        position += entry.length
