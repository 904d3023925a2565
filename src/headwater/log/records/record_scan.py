"""Read only what compaction asks of a record: its place, its offset, its key, whether it deletes.

Everything after the key is skipped by the record's length, which makes this several times as fast
as decoding. The batch's CRC must have been checked.
"""

from __future__ import annotations

from headwater.log.errors import CorruptBatch
from headwater.log.records.varint import read_varint, write_varint

ScannedRecord = tuple[int, int, int, bytes | None, bool]
"""Where it starts, where it ends, its offset delta, its key, and whether it is a tombstone."""


def scan_records(records: bytes, count: int) -> list[ScannedRecord]:
    """Scan `count` uncompressed records; whatever is wrong with them raises CorruptBatch."""
    scanned: list[ScannedRecord] = []
    size = len(records)
    position = 0
    key: bytes | None
    try:
        for _ in range(count):
            start = position
            # One- and two-byte varints are read in place: a call each would double the time.
            byte = records[position]
            position += 1
            if byte < 0x80:
                end = position + (byte >> 1)
            elif (high := records[position]) < 0x80:
                position += 1
                end = position + ((high << 6) | ((byte & 0x7F) >> 1))
            else:
                length, position = read_varint(records, start)
                end = position + length
            if byte & 1 or end > size:
                raise CorruptBatch("A record claims more bytes than its batch has.")
            position += 1
            while records[position] >= 0x80:
                position += 1
            position += 1
            byte = records[position]
            position += 1
            if byte < 0x80:
                delta = (byte >> 1) ^ -(byte & 1)
            elif (high := records[position]) < 0x80:
                position += 1
                delta = ((high << 6) | ((byte & 0x7F) >> 1)) ^ -(byte & 1)
            else:
                delta, position = read_varint(records, position - 1)
            byte = records[position]
            if byte & 1:
                key = None
                _, position = read_varint(records, position)
            elif byte < 0x80:
                position += 1
                value = position + (byte >> 1)
                key = records[position:value]
                position = value
            else:
                length, position = read_varint(records, position)
                key = records[position : position + length]
                position += length
            if position >= end:
                raise CorruptBatch("A record's key is longer than the record.")
            # The lowest bit of a zigzag number is its sign, and a negative length means null.
            scanned.append((start, end, delta, key, bool(records[position] & 1)))
            position = end
    except IndexError:
        raise CorruptBatch("The batch ends in the middle of a record.") from None
    if position != size:
        raise CorruptBatch(f"The batch has {size - position} bytes after its last record.")
    return scanned


def timestamp_delta(records: bytes, start: int) -> int:
    """Timestamp of the record at `start`, relative to the batch's base timestamp."""
    _, position = read_varint(records, start)
    return read_varint(records, position + 1, 64)[0]


def rebase_timestamp(output: bytearray, records: bytes, start: int, end: int, change: int) -> None:
    """Append a record with its timestamp delta changed, everything else as it was."""
    _, position = read_varint(records, start)
    delta, after = read_varint(records, position + 1, 64)
    body = bytearray(records[position : position + 1])
    write_varint(body, delta + change)
    body += records[after:end]
    write_varint(output, len(body))
    output += body
