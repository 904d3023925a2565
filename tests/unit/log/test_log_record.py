"""Records against the builders of other clients, and against damage."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest
from aiokafka.record.default_records import DefaultRecordBatch as AioBatch
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AioBuilder
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch as PyBatch
from kafka.record.default_records import DefaultRecordBatchBuilder as PyBuilder
from kio.records.readers import read_batch as kio_read_batch
from tests.effort import often

from headwater.log.errors import CorruptBatch
from headwater.log.records.batch import HEADER_SIZE, TimestampType, crc_of, parse_header
from headwater.log.records.compression_type import CompressionType
from headwater.log.records.record import (
    MAX_UNCOMPRESSED,
    Record,
    assemble_batch,
    decode_records,
    encode_batch,
    sequence_at,
)
from headwater.log.records.varint import read_varint, write_varint

KAFKA_SEGMENTS = Path(__file__).with_name("kafka_segments")
BASE = 1_700_000_000_000
CODECS = st.sampled_from(CompressionType)

small_bytes = st.none() | st.binary(max_size=40) | st.binary(min_size=60, max_size=300)
headers = st.lists(st.tuples(st.text(max_size=10), st.none() | st.binary(max_size=200)), max_size=4)


@st.composite
def record_lists(draw: st.DrawFn, min_size: int = 1) -> list[Record]:
    """Records with gaps between their offsets, as compaction leaves them."""
    offset = draw(st.integers(0, 2**62))
    timestamp = draw(st.integers(-1, 2**45))
    records = []
    for _ in range(draw(st.integers(min_size, 12))):
        records.append(
            Record(
                offset,
                max(-1, timestamp + draw(st.integers(-(2**40), 2**40))),
                draw(small_bytes),
                draw(small_bytes),
                tuple(draw(headers)),
            )
        )
        offset += draw(st.integers(1, 3) | st.integers(1, 1 << 20))
    return records


@given(st.integers(-(2**63), 2**63 - 1), st.binary(max_size=3))
@example(0, b"")
@example(-1, b"")
@example(63, b"")
@example(-64, b"")
@example(64, b"")
def test_varints_round_trip(value: int, prefix: bytes) -> None:
    encoded = bytearray(prefix)
    write_varint(encoded, value)
    assert read_varint(bytes(encoded), len(prefix), 64) == (value, len(encoded))


@pytest.mark.parametrize(
    ("value", "encoded"),
    [(0, "00"), (-1, "01"), (1, "02"), (63, "7e"), (64, "8001"), (-65, "8101"), (300, "d804")],
)
def test_varints_as_kafka_writes_them(value: int, encoded: str) -> None:
    output = bytearray()
    write_varint(output, value)
    assert output.hex() == encoded


def test_a_varint_that_is_too_large_is_corrupt() -> None:
    assert read_varint(b"\xff\xff\xff\xff\x0f", 0) == (-(2**31), 5)
    for data in (b"\xff\xff\xff\xff\x1f", b"\xff" * 9 + b"\x02", b"\x80" * 10 + b"\x00"):
        with pytest.raises(CorruptBatch, match="varint"):
            read_varint(data, 0)


@settings(deadline=None)
@given(record_lists(), CODECS)
def test_round_trip(records: list[Record], codec: CompressionType) -> None:
    batch = encode_batch(records, codec=codec, leader_epoch=3)
    header = parse_header(batch)
    assert header.size == len(batch)
    assert header.crc == crc_of(batch)
    assert header.codec == codec
    assert (header.base_offset, header.last_offset) == (records[0].offset, records[-1].offset)
    assert header.max_timestamp == max(record.timestamp for record in records)
    assert header.leader_epoch == 3
    assert list(decode_records(batch)) == records
    assert list(decode_records(memoryview(batch + b"what follows in the file"))) == records


@settings(deadline=None)
@given(record_lists(), CODECS, st.integers(0, 2**31 - 1))
def test_what_a_compacted_batch_keeps(
    records: list[Record], codec: CompressionType, sequence: int
) -> None:
    first, last = records[0].offset - 5, records[-1].offset + 7
    batch = encode_batch(
        records,
        base_offset=first,
        last_offset=last,
        codec=codec,
        producer_id=9,
        producer_epoch=2,
        base_sequence=sequence,
        is_transactional=True,
        delete_horizon_ms=BASE,
    )
    header = parse_header(batch)
    assert (header.base_offset, header.last_offset) == (first, last)
    assert (header.producer_id, header.producer_epoch) == (9, 2)
    assert header.base_sequence == sequence
    assert header.is_transactional
    assert not header.is_control
    assert header.has_delete_horizon
    assert header.base_timestamp == BASE
    expected = [
        record._replace(sequence=(sequence + record.offset - first) % 2**31) for record in records
    ]
    assert list(decode_records(batch)) == expected


def test_log_append_time_is_every_records_timestamp() -> None:
    records = [Record(0, BASE, b"a", b"1"), Record(1, BASE + 5, b"b", b"2")]
    batch = encode_batch(records, timestamp_type=TimestampType.LOG_APPEND_TIME)
    assert [record.timestamp for record in decode_records(batch)] == [BASE + 5, BASE + 5]


def test_a_batch_without_records_keeps_its_place() -> None:
    for codec in CompressionType:
        batch = encode_batch([], base_offset=10, last_offset=14, codec=codec, producer_id=4)
        assert len(batch) == HEADER_SIZE
        assert list(decode_records(batch)) == []
        assert parse_header(batch).next_offset == 15
    with pytest.raises(ValueError, match="base_offset"):
        encode_batch([])


def test_sequences_wrap_and_are_absent_without_a_producer() -> None:
    assert sequence_at(-1, 5) == -1
    assert sequence_at(0, 0) == 0
    assert sequence_at(2**31 - 1, 0) == 2**31 - 1
    assert sequence_at(2**31 - 1, 1) == 0


@settings(deadline=None)
@given(record_lists(), CODECS)
def test_other_clients_read_what_we_write(records: list[Record], codec: CompressionType) -> None:
    batch = bytes(encode_batch(records, codec=codec, producer_id=7, base_sequence=0))
    for reader in (AioBatch, PyBatch):
        theirs = reader(batch)
        assert theirs.validate_crc()
        seen = [
            (record.offset, record.timestamp, record.key, record.value, tuple(record.headers))
            for record in theirs
        ]
        assert seen == [tuple(record[:5]) for record in records]


@settings(deadline=None)
@given(record_lists())
def test_kio_reads_what_we_write(records: list[Record]) -> None:
    # It knows no timestamps before 1970, so not the -1 that stands for none.
    records = [record._replace(timestamp=max(0, record.timestamp)) for record in records]
    batch = bytes(encode_batch(records, leader_epoch=4))
    theirs, size = kio_read_batch(batch, 0)
    assert size == len(batch)
    assert theirs.partition_leader_epoch == 4
    assert [
        (
            record.offset,
            record.key,
            record.value,
            tuple(((header.key or b"").decode(), header.value) for header in record.headers),
        )
        for record in theirs.records
    ] == [(record.offset, record.key, record.value, record.headers) for record in records]


@settings(deadline=None)
@given(
    st.lists(st.tuples(small_bytes, small_bytes, headers), min_size=1, max_size=10),
    CODECS,
    st.sampled_from([AioBuilder, PyBuilder]),
)
def test_we_read_what_other_clients_write(
    contents: list[tuple[bytes | None, bytes | None, list[tuple[str, bytes | None]]]],
    codec: CompressionType,
    builder_class: type,
) -> None:
    builder = builder_class(
        magic=2,
        compression_type=int(codec),
        is_transactional=False,
        producer_id=42,
        producer_epoch=1,
        base_sequence=100,
        batch_size=1 << 20,
    )
    for index, (key, value, record_headers) in enumerate(contents):
        builder.append(index, BASE + index, key, value, record_headers)
    expected = [
        Record(index, BASE + index, key, value, tuple(record_headers), 100 + index)
        for index, (key, value, record_headers) in enumerate(contents)
    ]
    batch = bytes(builder.build())
    assert list(decode_records(batch)) == expected
    if parse_header(batch).codec == CompressionType.NONE:
        ours = encode_batch(expected, producer_id=42, producer_epoch=1, base_sequence=100)
        assert ours[HEADER_SIZE:] == batch[HEADER_SIZE:]


@pytest.mark.parametrize("client", ["librdkafka-none", "java-none"])
def test_byte_for_byte_what_librdkafka_and_java_write(client: str) -> None:
    data = (KAFKA_SEGMENTS / client / "00000000000000000000.log").read_bytes()
    position = 0
    while position < len(data):
        header = parse_header(data, position)
        batch = data[position : position + header.size]
        again = encode_batch(
            list(decode_records(batch)),
            leader_epoch=header.leader_epoch,
            producer_id=header.producer_id,
            producer_epoch=header.producer_epoch,
            base_sequence=header.base_sequence,
        )
        assert again == batch
        position += header.size


RECORDS = [
    Record(5, BASE, b"key", b"value", (("h", b"1"), ("n", None))),
    Record(6, BASE + 1, None, b"v" * 200),
    Record(9, BASE + 300, b"k" * 70, None, (("x", b"y" * 100),)),
]


@settings(deadline=None, max_examples=often(150, in_soak=5000))
@given(CODECS, st.data())
def test_damage_never_raises_anything_else(codec: CompressionType, data: st.DataObject) -> None:
    damaged = encode_batch(RECORDS, codec=codec)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(CorruptBatch):
        list(decode_records(damaged[: data.draw(st.integers(0, len(damaged)))]))


@settings(deadline=None, max_examples=often(150, in_soak=5000))
@given(st.binary(max_size=400), st.integers(-(2**31), 2**31 - 1))
def test_random_records_never_raise_anything_else(payload: bytes, count: int) -> None:
    header = parse_header(encode_batch(RECORDS))._replace(record_count=count)
    with contextlib.suppress(CorruptBatch):
        list(decode_records(assemble_batch(header, payload)))


@pytest.mark.parametrize("codec", CompressionType)
def test_every_truncation_is_corrupt(codec: CompressionType) -> None:
    batch = encode_batch(RECORDS, codec=codec)
    for size in range(len(batch)):
        with pytest.raises(CorruptBatch):
            list(decode_records(batch[:size]))


@pytest.mark.parametrize(
    ("position", "patch", "message"),
    [
        (16, b"\x01", "magic 1"),
        (22, b"\x07", "codec 7"),
        (57, struct.pack(">i", 2), "after the last"),
        (57, struct.pack(">i", 4), "middle of a record"),
        (57, struct.pack(">i", -1), "-1 records"),
        (8, struct.pack(">i", 20), "claims 32 bytes"),
        (8, struct.pack(">i", -20), "claims -8 bytes"),
    ],
)
def test_the_error_says_what_is_wrong(position: int, patch: bytes, message: str) -> None:
    batch = encode_batch(RECORDS)
    batch[position : position + len(patch)] = patch
    with pytest.raises(CorruptBatch, match=message):
        list(decode_records(batch))


def test_a_bomb_does_not_eat_the_memory() -> None:
    record = Record(0, BASE, None, bytes(MAX_UNCOMPRESSED))
    with pytest.raises(CorruptBatch, match="more than"):
        list(decode_records(encode_batch([record], codec=CompressionType.ZSTD, level=1)))
