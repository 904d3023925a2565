from __future__ import annotations

import random
import tracemalloc

import google_crc32c
import pytest
from tests.unit.log.log_batches import NOW, batch

from headwater.log.errors import CorruptBatch
from headwater.log.records.batch import (
    CHECKED_POSITION,
    CONTROL_BIT,
    HEADER_SIZE,
    TIMESTAMP_TYPE_BIT,
    BatchHeader,
    TimestampType,
    crc_of,
    parse_header,
    place,
    stamp_timestamp_type,
)
from headwater.log.records.record import decode_records

# Written out byte by byte in the order of Kafka's documentation: one record, key "k", value "v".
BATCH = bytes.fromhex(
    "0000000000000000" "0000003a" "ffffffff" "02" "00000000" "0000" "00000000"
    "0000018bcfe56800" "0000018bcfe56800" "ffffffffffffffff" "ffff" "ffffffff" "00000001"
    "10" "00" "00" "00" "02" "6b" "02" "76" "00"
)  # fmt: skip


def test_header_fields_lie_where_kafka_puts_them() -> None:
    header = parse_header(BATCH)

    assert header == BatchHeader(0, 58, -1, 2, 0, 0, 0, NOW, NOW, -1, -1, -1, 1)
    assert (header.size, header.last_offset, header.next_offset) == (70, 0, 1)
    assert [record.value for record in decode_records(BATCH)] == [b"v"]


def test_header_is_read_at_a_position() -> None:
    assert parse_header(b"garbage" + BATCH, 7) == parse_header(BATCH)


@pytest.mark.parametrize("position", [-1, 10, 1000])
def test_header_that_is_cut_off_is_refused(position: int) -> None:
    with pytest.raises(CorruptBatch, match="needs 61 bytes"):
        parse_header(BATCH, position)


def test_attributes_are_named() -> None:
    header = parse_header(BATCH)._replace(attributes=0b0111_1100)

    assert header.codec == 4
    assert header.timestamp_type is TimestampType.LOG_APPEND_TIME
    assert header.is_transactional
    assert header.is_control
    assert header.has_delete_horizon
    assert header._replace(attributes=CONTROL_BIT).is_control
    assert not header._replace(attributes=CONTROL_BIT).is_transactional


def test_place_changes_offset_and_epoch_only_and_keeps_the_crc_valid() -> None:
    records = bytearray(b"xyz") + bytearray(batch(b"a", b"b"))
    before = parse_header(records, 3)

    place(records, 3, 1 << 40, before.batch_length, 7)

    after = parse_header(records, 3)
    assert after == before._replace(base_offset=1 << 40, leader_epoch=7)
    assert crc_of(records[3:]) == after.crc
    assert records[:3] == b"xyz"


def test_the_checksum_of_a_batch_of_any_size_is_that_of_its_bytes() -> None:
    content = random.Random(3).randbytes(200_000)
    for piece in (65_536, 131_072):
        for size in (0, 1, 40, piece - 1, piece, piece + 1, piece + CHECKED_POSITION, 200_000):
            data = content[:size]
            expected = google_crc32c.value(data[CHECKED_POSITION:])
            assert crc_of(data) == crc_of(memoryview(bytearray(data))) == expected


def test_the_checksum_of_a_large_batch_does_not_copy_it() -> None:
    data = bytearray(1_000_000)
    tracemalloc.start()
    try:
        crc_of(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(data) / 4


def test_stamping_changes_type_and_time_and_renews_the_crc() -> None:
    view = batch(b"a", b"b")
    before = parse_header(view)

    stamp_timestamp_type(view, before.attributes | TIMESTAMP_TYPE_BIT, NOW + 99)

    after = parse_header(view)
    assert after.crc == crc_of(view) != before.crc
    assert [record.timestamp for record in decode_records(view)] == [NOW + 99] * 2
    assert len(view) > HEADER_SIZE
