"""Records in a batch: take a batch apart into records, and build one from records.

Nothing here runs when a record is produced or fetched; see `record_scan` for reading only keys.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from headwater.log.errors import CorruptBatch
from headwater.log.records.batch import (
    CONTROL_BIT,
    CRC_POSITION,
    DELETE_HORIZON_BIT,
    HEADER_SIZE,
    LOG_OVERHEAD,
    MAGIC,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    TimestampType,
    crc_of,
    parse_header,
)
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.varint import ZIGZAG, read_varint, write_varint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.log.records.batch import Buffer

Header = tuple[str, bytes | None]

NO_TIMESTAMP = -1

MAX_UNCOMPRESSED = 128 << 20
"""A batch may always unpack to this many bytes, and to more only in proportion to its own size."""


class Record(NamedTuple):
    """One record as the log has it; a value of None is a tombstone."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...] = ()
    sequence: int = -1


def decode_records(batch: Buffer) -> Iterator[Record]:
    """Unpack a whole batch, header included, record by record.

    The CRC is the caller's business. Whatever is wrong with the bytes raises CorruptBatch.
    """
    header = parse_header(batch)
    payload = uncompressed_records(batch, header)
    position = 0
    for _ in range(header.record_count):
        try:
            record, position = _decode_record(payload, position, header)
        except IndexError:
            raise CorruptBatch(
                f"The batch at offset {header.base_offset} ends in the middle of a record."
            ) from None
        yield record
    if position != len(payload):
        raise CorruptBatch(
            f"The batch at offset {header.base_offset} has {len(payload) - position} bytes "
            f"after the last of its {header.record_count} records."
        )


def uncompressed_records(batch: Buffer, header: BatchHeader) -> bytes:
    """Give the bytes of a batch's records, decompressed."""
    if header.magic != MAGIC:
        raise CorruptBatch(
            f"The batch at offset {header.base_offset} has magic {header.magic}, not {MAGIC}."
        )
    if not HEADER_SIZE <= header.size <= len(batch) or header.record_count < 0:
        raise CorruptBatch(
            f"The batch at offset {header.base_offset} claims {header.size} bytes and "
            f"{header.record_count} records, of which {len(batch)} bytes are there."
        )
    records = memoryview(batch)[HEADER_SIZE : header.size]
    if header.codec == CompressionType.NONE:
        return bytes(records)
    if header.codec > max(CompressionType):
        raise CorruptBatch(
            f"The batch at offset {header.base_offset} has codec {header.codec}, "
            "which does not exist."
        )
    if not header.record_count and not records:
        return b""
    limit = max(MAX_UNCOMPRESSED, _MAX_RATIO * len(records))
    from headwater.log.records.compression import decompress

    return decompress(CompressionType(header.codec), records, limit)


def compressed_records(records: Buffer, codec: CompressionType, level: int | None = None) -> Buffer:
    """Return the records of a batch in the codec's form, as they are for `CompressionType.NONE`."""
    if codec is CompressionType.NONE or not records:
        return records
    # Loaded when needed, as above: a broker mostly passes compressed batches on as they are, and
    # the codecs would be a twentieth of what an idle one takes.
    from headwater.log.records.compression import compress

    return compress(codec, records, level)


def encode_batch(
    records: Sequence[Record],
    *,
    base_offset: int | None = None,
    codec: CompressionType = CompressionType.NONE,
    level: int | None = None,
    leader_epoch: int = -1,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
    timestamp_type: TimestampType = TimestampType.CREATE_TIME,
    delete_horizon_ms: int | None = None,
    last_offset: int | None = None,
) -> bytearray:
    """Build a batch; the records' own sequences are ignored, they follow from `base_sequence`.

    `base_offset` and `last_offset` are those of the first and last record unless they are given,
    as they must be for a batch without records. With `delete_horizon_ms`, tombstones in the batch
    may be removed from that time on.
    """
    if not records and (base_offset is None or last_offset is None):
        raise ValueError("a batch without records needs a base_offset and a last_offset")
    first = base_offset if base_offset is not None else records[0].offset
    last = last_offset if last_offset is not None else records[-1].offset
    if delete_horizon_ms is not None:
        base_timestamp = delete_horizon_ms
    else:
        base_timestamp = records[0].timestamp if records else NO_TIMESTAMP
    attributes = (
        codec
        | TIMESTAMP_TYPE_BIT * timestamp_type
        | TRANSACTIONAL_BIT * is_transactional
        | CONTROL_BIT * is_control
        | DELETE_HORIZON_BIT * (delete_horizon_ms is not None)
    )
    payload = bytearray()
    for record in records:
        _encode_record(payload, record, first, base_timestamp)
    header = BatchHeader(
        base_offset=first,
        batch_length=0,
        leader_epoch=leader_epoch,
        magic=MAGIC,
        crc=0,
        attributes=attributes,
        last_offset_delta=last - first,
        base_timestamp=base_timestamp,
        max_timestamp=max((record.timestamp for record in records), default=NO_TIMESTAMP),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        record_count=len(records),
    )
    return assemble_batch(header, compressed_records(payload, codec, level))


def assemble_batch(header: BatchHeader, records: Buffer) -> bytearray:
    """Put `header`, with the right length and CRC, in front of already compressed records."""
    length = HEADER_SIZE - LOG_OVERHEAD + len(records)
    batch = bytearray(_HEADER.pack(*header._replace(batch_length=length, crc=0)))
    batch += records
    _CRC.pack_into(batch, CRC_POSITION, crc_of(batch))
    return batch


def sequence_at(base_sequence: int, delta: int) -> int:
    """Sequence of the record `delta` places after the batch's first; it wraps at 2**31."""
    return -1 if base_sequence < 0 else (base_sequence + delta) & _INT_MAX


_HEADER = struct.Struct(">qiibIhiqqqhii")
_CRC = struct.Struct(">I")
_MAX_RATIO = 32
_INT_MAX = 0x7FFFFFFF
_MORE = 0x80


def _decode_record(data: bytes, position: int, batch: BatchHeader) -> tuple[Record, int]:
    length, position = read_varint(data, position)
    end = position + length
    if length <= 0 or end > len(data):
        raise CorruptBatch(
            f"The batch at offset {batch.base_offset} has a record of {length} bytes "
            f"where {len(data) - position} are left."
        )
    position += 1
    # Most of these numbers take one byte, and looking them up saves a call.
    if (byte := data[position]) < _MORE:
        timestamp_delta = ZIGZAG[byte]
        position += 1
    else:
        timestamp_delta, position = read_varint(data, position, 64)
    if (byte := data[position]) < _MORE:
        offset_delta = ZIGZAG[byte]
        position += 1
    else:
        offset_delta, position = read_varint(data, position)
    key, position = _read_bytes(data, position, end)
    value, position = _read_bytes(data, position, end)
    headers: tuple[Header, ...] = ()
    if data[position]:
        headers, position = _read_headers(data, position, end)
    else:
        position += 1
    if position != end:
        raise CorruptBatch(
            f"The batch at offset {batch.base_offset} has a record of {length} bytes "
            f"whose fields take {length + position - end}."
        )
    if batch.attributes & TIMESTAMP_TYPE_BIT:
        timestamp = batch.max_timestamp
    else:
        timestamp = batch.base_timestamp + timestamp_delta
    sequence = -1 if batch.base_sequence < 0 else sequence_at(batch.base_sequence, offset_delta)
    return (
        Record(batch.base_offset + offset_delta, timestamp, key, value, headers, sequence),
        end,
    )


def _read_bytes(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    if (byte := data[position]) < _MORE:
        length = ZIGZAG[byte]
        position += 1
    else:
        length, position = read_varint(data, position)
    if length < 0:
        return None, position
    if length > end - position:
        raise CorruptBatch(
            f"A record has a field of {length} bytes where {end - position} are left."
        )
    return data[position : position + length], position + length


def _read_headers(data: bytes, position: int, end: int) -> tuple[tuple[Header, ...], int]:
    count, position = read_varint(data, position)
    # A header takes at least two bytes, so a wild count cannot keep the loop busy.
    if not 0 <= count <= (end - position) // 2:
        raise CorruptBatch(f"A record has {count} headers in {end - position} bytes.")
    headers: list[Header] = []
    for _ in range(count):
        name, position = _read_bytes(data, position, end)
        if name is None:
            raise CorruptBatch("A record has a header without a key.")
        value, position = _read_bytes(data, position, end)
        headers.append((name.decode("utf-8", "replace"), value))
    return tuple(headers), position


def _encode_record(
    output: bytearray, record: Record, base_offset: int, base_timestamp: int
) -> None:
    body = bytearray(1)
    write_varint(body, record.timestamp - base_timestamp)
    write_varint(body, record.offset - base_offset)
    _write_bytes(body, record.key)
    _write_bytes(body, record.value)
    write_varint(body, len(record.headers))
    for name, value in record.headers:
        _write_bytes(body, name.encode())
        _write_bytes(body, value)
    write_varint(output, len(body))
    output += body


def _write_bytes(output: bytearray, data: bytes | None) -> None:
    if data is None:
        write_varint(output, -1)
    else:
        write_varint(output, len(data))
        output += data
