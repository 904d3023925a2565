"""The scan sees what decoding sees, and fails where decoding fails."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import often

from headwater.log.errors import CorruptBatch
from headwater.log.records.batch import parse_header
from headwater.log.records.record import Record, assemble_batch, decode_records, encode_batch
from headwater.log.records.record import uncompressed_records as uncompressed
from headwater.log.records.record_scan import rebase_timestamp, scan_records, timestamp_delta

BASE = 1_700_000_000_000

keys = st.none() | st.binary(max_size=20) | st.binary(min_size=60, max_size=90)
values = st.none() | st.binary(max_size=20) | st.binary(min_size=50, max_size=9000)


@st.composite
def batches(draw: st.DrawFn) -> bytearray:
    offset, records = draw(st.integers(0, 1000)), []
    for _ in range(draw(st.integers(1, 8))):
        timestamp = BASE + draw(st.integers(-70, 70) | st.integers(-(2**40), 2**40))
        headers = (("name", b"x" * draw(st.integers(0, 80))),) * draw(st.integers(0, 2))
        records.append(Record(offset, timestamp, draw(keys), draw(values), headers))
        offset += draw(st.integers(1, 70) | st.integers(1, 2**20))
    return encode_batch(records)


@settings(deadline=None)
@given(batches())
def test_the_scan_agrees_with_decoding(batch: bytearray) -> None:
    header = parse_header(batch)
    payload = uncompressed(batch, header)
    records = list(decode_records(batch))
    scanned = scan_records(payload, header.record_count)
    assert [
        (header.base_offset + delta, key, tombstone) for _, _, delta, key, tombstone in scanned
    ] == [(record.offset, record.key, record.value is None) for record in records]
    assert [header.base_timestamp + timestamp_delta(payload, each[0]) for each in scanned] == [
        record.timestamp for record in records
    ]
    assert b"".join(payload[start:end] for start, end, *_ in scanned) == payload


@settings(deadline=None)
@given(batches(), st.integers(-(2**40), 2**40))
def test_a_new_base_timestamp_changes_nothing_else(batch: bytearray, change: int) -> None:
    header = parse_header(batch)
    payload = uncompressed(batch, header)
    output = bytearray()
    for start, end, *_ in scan_records(payload, header.record_count):
        rebase_timestamp(output, payload, start, end, change)
    rebased = header._replace(base_timestamp=header.base_timestamp - change)
    assert list(decode_records(assemble_batch(rebased, output))) == list(decode_records(batch))


@settings(deadline=None, max_examples=often(150, in_soak=5000))
@given(batches(), st.data())
def test_damage_never_raises_anything_else(batch: bytearray, data: st.DataObject) -> None:
    payload = bytearray(uncompressed(batch, parse_header(batch)))
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(payload[: data.draw(st.integers(0, len(payload)))])
    with contextlib.suppress(CorruptBatch):
        scan_records(cut, data.draw(st.integers(0, 10)))


@given(st.binary(max_size=200), st.integers(0, 2**31 - 1))
def test_random_bytes_never_raise_anything_else(payload: bytes, count: int) -> None:
    with contextlib.suppress(CorruptBatch):
        scan_records(payload, count)


def test_every_truncation_is_corrupt() -> None:
    batch = encode_batch([Record(0, BASE, b"key", b"v" * 90), Record(1, BASE, b"k" * 80, None)])
    payload = uncompressed(batch, parse_header(batch))
    for size in range(len(payload)):
        with pytest.raises(CorruptBatch):
            scan_records(payload[:size], 2)
    with pytest.raises(CorruptBatch, match="after its last"):
        scan_records(payload + b"\x00", 2)
