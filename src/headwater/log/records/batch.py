"""The header of a record batch (magic 2), read and patched without touching the records."""

from __future__ import annotations

import struct
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import google_crc32c

from headwater.log.errors import CorruptBatch

if TYPE_CHECKING:
    Buffer = bytes | bytearray | memoryview

HEADER_SIZE = 61
LOG_OVERHEAD = 12
"""Base offset and batch length, the two fields that the batch length does not count."""

MAGIC = 2
MAGIC_POSITION = 16
CRC_POSITION = 17
CHECKED_POSITION = 21
"""Where the bytes covered by the CRC start: base offset and leader epoch lie before it."""

CODEC_MASK = 0x07
TIMESTAMP_TYPE_BIT = 0x08
TRANSACTIONAL_BIT = 0x10
CONTROL_BIT = 0x20
DELETE_HORIZON_BIT = 0x40


class TimestampType(IntEnum):
    """Whether a batch's timestamps are the producer's or the broker's."""

    CREATE_TIME = 0
    LOG_APPEND_TIME = 1


class BatchHeader(NamedTuple):
    """The 61 bytes in front of a batch's records, field by field."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    def placed_at(self, base_offset: int) -> BatchHeader:
        """Return the header as it is once the batch has its offset."""
        # `_replace` takes four times as long, and every batch of an idempotent producer pays.
        return _new_header((base_offset, *self[1:]))

    @property
    def size(self) -> int:
        """Bytes of the whole batch, header included."""
        return self.batch_length + LOG_OVERHEAD

    @property
    def last_offset(self) -> int:
        """Offset of the last record that the batch had when it was written."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """First offset after the batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def codec(self) -> int:
        """Number of the codec, the values of `compression.Codec`."""
        return self.attributes & CODEC_MASK

    @property
    def timestamp_type(self) -> TimestampType:
        """Whose clock the timestamps come from."""
        return TimestampType((self.attributes & TIMESTAMP_TYPE_BIT) >> 3)

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        """Whether the batch holds a commit or abort marker instead of records."""
        return bool(self.attributes & CONTROL_BIT)

    @property
    def has_delete_horizon(self) -> bool:
        """Whether the base timestamp is the time from which tombstones may go."""
        return bool(self.attributes & DELETE_HORIZON_BIT)


# What `_make` amounts to, which is written in Python.
_new_header = partial(tuple.__new__, BatchHeader)
_HEADER = struct.Struct(">qiibIhiqqqhii")
_PLACE = struct.Struct(">qii")
_CRC = struct.Struct(">I")
_ATTRIBUTES = struct.Struct(">h")
_MAX_TIMESTAMP = struct.Struct(">q")
_CRC_PIECE = 64 * 1024
_ATTRIBUTES_POSITION = 21
_MAX_TIMESTAMP_POSITION = 35


def parse_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """Read the header at `position`; what the fields say is not checked."""
    if position < 0 or len(buffer) - position < HEADER_SIZE:
        raise CorruptBatch(
            f"A record batch header needs {HEADER_SIZE} bytes, "
            f"but only {max(0, len(buffer) - position)} are left at position {position}."
        )
    return _new_header(_HEADER.unpack_from(buffer, position))


def crc_of(batch: Buffer) -> int:
    """CRC-32C of a whole batch, as its header's `crc` field must have it."""
    # The C extension takes only bytes. A copy of a piece is cheap next to the checksum itself; one
    # of a large batch is memory that the allocator gets anew from the kernel, page by page.
    with memoryview(batch) as view:
        crc = google_crc32c.value(bytes(view[CHECKED_POSITION:_CRC_PIECE]))
        for start in range(_CRC_PIECE, len(view), _CRC_PIECE):
            crc = google_crc32c.extend(crc, bytes(view[start : start + _CRC_PIECE]))
    return int(crc)


def place(
    records: bytearray | memoryview, position: int, base_offset: int, length: int, epoch: int
) -> None:
    """Give the batch at `position` its offset and leader epoch; neither is under the CRC.

    `length` is the batch's length field, which lies between the two and stays as it is.
    """
    _PLACE.pack_into(records, position, base_offset, length, epoch)


def stamp_timestamp_type(
    batch: bytearray | memoryview, attributes: int, max_timestamp: int
) -> None:
    """Say whose clock the timestamps come from and which is the largest, and renew the CRC."""
    _ATTRIBUTES.pack_into(batch, _ATTRIBUTES_POSITION, attributes)
    _MAX_TIMESTAMP.pack_into(batch, _MAX_TIMESTAMP_POSITION, max_timestamp)
    _CRC.pack_into(batch, CRC_POSITION, crc_of(batch))
