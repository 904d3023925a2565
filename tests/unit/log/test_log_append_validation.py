"""What a log refuses, each with the error that the client has to get, and what it changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import NOW, append, batch, open_log, read_all, values

from headwater.log.config import LogConfig
from headwater.log.errors import (
    CorruptBatch,
    InvalidRecord,
    InvalidTimestamp,
    LogError,
    NotOneBatch,
    RecordListTooLarge,
    RecordTooLarge,
    UnsupportedCompression,
)
from headwater.log.log import AppendOrigin
from headwater.log.records.batch import CRC_POSITION, crc_of, parse_header
from headwater.log.records.compression_type import CompressionType

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.log import Log


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return open_log(tmp_path)


def changed(position: int, data: bytes, *, renew_crc: bool = True) -> memoryview:
    """A good batch with some bytes replaced."""
    view = batch(b"a", b"b", b"c")
    view[position : position + len(data)] = data
    if renew_crc:
        view[CRC_POSITION : CRC_POSITION + 4] = crc_of(view).to_bytes(4, "big")
    return view


def refuse(log: Log, records: memoryview, error: type[LogError], says: str) -> None:
    before = log.end
    with pytest.raises(error, match=says):
        log.append(records, leader_epoch=0, now_ms=NOW)
    assert log.end == before
    assert log.size == (log.directory / f"{0:020d}.log").stat().st_size


@pytest.mark.parametrize("size", [0, 1, 12, 60])
def test_less_than_a_header_is_no_batch(log: Log, size: int) -> None:
    refuse(log, batch(b"a")[:size], InvalidRecord, "no complete record batch")


@pytest.mark.parametrize("magic", [0, 1])
def test_old_magic_is_refused(log: Log, magic: int) -> None:
    refuse(log, changed(16, bytes([magic])), NotOneBatch, f"magic {magic}")


@pytest.mark.parametrize("magic", [3, 127])
def test_magic_that_never_was_is_corrupt(log: Log, magic: int) -> None:
    refuse(log, changed(16, bytes([magic])), CorruptBatch, f"magic {magic}")


@pytest.mark.parametrize("length", [0, 48, -1, -(2**31)])
def test_length_below_the_header_is_corrupt(log: Log, length: int) -> None:
    field = length.to_bytes(4, "big", signed=True)
    refuse(log, changed(8, field), CorruptBatch, "fewer than its header")


def test_batch_that_is_cut_off_is_refused(log: Log) -> None:
    refuse(log, batch(b"a", b"b")[:-1], InvalidRecord, "only 78 were sent")


def test_a_second_batch_is_refused(log: Log) -> None:
    two = memoryview(bytearray(batch(b"a")) + bytearray(batch(b"b")))
    refuse(log, two, InvalidRecord, "exactly one batch")


@pytest.mark.parametrize("position", [21, 40, 61, 70])
def test_a_flipped_bit_is_corrupt(log: Log, position: int) -> None:
    view = batch(b"a", b"b", b"c")
    view[position] ^= 0x10
    refuse(log, view, CorruptBatch, "CRC-32C")


@pytest.mark.parametrize(
    ("count", "delta"), [(0, -1), (0, 2), (-1, -2), (3, 1), (3, 3), (4, 2), (3, -1)]
)
def test_count_and_last_offset_delta_must_agree(log: Log, count: int, delta: int) -> None:
    view = changed(23, delta.to_bytes(4, "big", signed=True))
    view[57:61] = count.to_bytes(4, "big", signed=True)
    view[CRC_POSITION : CRC_POSITION + 4] = crc_of(view).to_bytes(4, "big")
    refuse(log, view, InvalidRecord, "last offset delta")


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_unknown_codec_is_refused(log: Log, codec: int) -> None:
    refuse(log, changed(21, bytes([0, codec])), UnsupportedCompression, f"codec {codec}")


def test_clients_may_not_write_control_batches(log: Log) -> None:
    refuse(log, batch(b"a", is_control=True), InvalidRecord, "control batches")


def test_producer_id_without_sequence_is_refused(log: Log) -> None:
    records = batch(b"a", producer_id=7, producer_epoch=0, base_sequence=-1)
    refuse(log, records, InvalidRecord, "sequence -1")


def test_max_message_bytes_counts_the_whole_batch(tmp_path: Path) -> None:
    records = batch(b"x" * 100)
    log = open_log(tmp_path, LogConfig(max_message_bytes=len(records)))
    log.append(records, leader_epoch=0, now_ms=NOW)

    refuse(log, batch(b"x" * 101), RecordTooLarge, f"allows {len(records)}")


def test_a_batch_must_fit_into_a_segment(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(segment_bytes=200))
    refuse(log, batch(b"x" * 200), RecordListTooLarge, "segment.bytes allows 200")


def test_timestamps_may_not_be_too_far_away(tmp_path: Path) -> None:
    log = open_log(
        tmp_path,
        LogConfig(message_timestamp_before_max_ms=1000, message_timestamp_after_max_ms=500),
    )
    append(log, b"old", timestamp=NOW - 1000)
    append(log, b"new", timestamp=NOW + 500)
    append(log, b"none", timestamp=-1)

    before = log.end
    for timestamp, setting in ((NOW - 1001, "before.max.ms"), (NOW + 501, "after.max.ms")):
        with pytest.raises(InvalidTimestamp, match=setting):
            append(log, b"x", timestamp=timestamp)
    assert log.end == before


def test_only_the_broker_may_mark_a_batch_with_its_own_time(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(message_timestamp_type="LogAppendTime"))
    refuse(log, changed(21, b"\x00\x08"), InvalidTimestamp, "marked LogAppendTime")


def test_on_a_create_time_topic_a_wrong_mark_is_taken_off(log: Log) -> None:
    log.append(changed(21, b"\x00\x08"), leader_epoch=0, now_ms=NOW)

    assert [record.timestamp for record in read_all(log)] == [NOW, NOW + 1, NOW + 2]


def test_log_append_time_replaces_the_producers(tmp_path: Path) -> None:
    log = open_log(tmp_path, LogConfig(message_timestamp_type="LogAppendTime"))

    info = append(log, b"a", b"b", timestamp=12, now_ms=NOW + 77)

    assert info.log_append_time == NOW + 77
    assert [record.timestamp for record in read_all(log)] == [NOW + 77] * 2
    header = parse_header(log.read(0, 1000, log.end).read())
    assert (header.base_timestamp, header.max_timestamp) == (12, NOW + 77)


@pytest.mark.parametrize("sent", list(CompressionType))
@pytest.mark.parametrize("kept", ["producer", "uncompressed", "gzip", "snappy", "lz4", "zstd"])
def test_compression_type_decides_how_a_batch_is_kept(
    tmp_path: Path, sent: CompressionType, kept: str
) -> None:
    log = open_log(tmp_path, LogConfig(compression_type=kept))
    payload = [b"value %d " % number * 20 for number in range(10)]

    append(log, *payload, codec=sent, producer_id=5, producer_epoch=1, base_sequence=9)

    data = log.read(0, 1 << 20, log.end).read()
    header = parse_header(data)
    assert header.codec == (sent if kept == "producer" else CompressionType.from_name(kept))
    assert header.crc == crc_of(data)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (5, 1, 9)
    assert header.max_timestamp == NOW + 9
    assert values(log) == payload


def test_level_of_the_topics_codec_is_used(tmp_path: Path) -> None:
    text = b"".join(b"line %d of a text that repeats itself\n" % number for number in range(3000))
    sizes = []
    for level in (1, 9):
        config = LogConfig(compression_type="gzip", compression_gzip_level=level)
        log = open_log(tmp_path / str(level), config)
        append(log, text)
        sizes.append(log.size)
        assert values(log) == [text]

    assert sizes[0] > sizes[1]


def test_a_batch_may_not_outgrow_the_limit_by_being_unpacked(tmp_path: Path) -> None:
    config = LogConfig(compression_type="uncompressed", max_message_bytes=1000)
    log = open_log(tmp_path, config)
    refuse(log, batch(b"x" * 5000, codec=CompressionType.GZIP), RecordTooLarge, "allows 1000")


@pytest.mark.parametrize("codec", [CompressionType.NONE, CompressionType.ZSTD])
def test_compacted_topics_need_keys(tmp_path: Path, codec: CompressionType) -> None:
    log = open_log(tmp_path, LogConfig(cleanup_policy=frozenset({"compact"})))
    append(log, b"with key", codec=codec)
    append(log, b"empty key", key=b"", codec=codec)

    refuse(log, batch(b"without", key=None, codec=codec), InvalidRecord, "has no key")
    assert values(log) == [b"with key", b"empty key"]


def test_garbage_that_claims_to_be_compressed_is_corrupt_where_it_is_unpacked(
    tmp_path: Path,
) -> None:
    view = changed(21, b"\x00\x04")
    plain = open_log(tmp_path / "plain")
    plain.append(view, leader_epoch=0, now_ms=NOW)

    log = open_log(tmp_path / "gzip", LogConfig(compression_type="gzip"))
    refuse(log, view, CorruptBatch, "zstd")


def test_settings_can_change_while_the_log_is_open(log: Log) -> None:
    append(log, b"x" * 500)
    log.update_config(replace(log.config, max_message_bytes=100, compression_type="gzip"))

    refuse(log, batch(b"x" * 500), RecordTooLarge, "allows 100")
    append(log, b"x")
    assert parse_header(log.read(1, 1000, log.end).read()).codec == CompressionType.GZIP


def test_the_broker_itself_may_write_several_batches_and_markers(log: Log) -> None:
    append(log, b"0")
    several = bytearray(batch(b"1", b"2")) + bytearray(
        batch(b"3", timestamp=NOW + 50, is_control=True, producer_id=1, producer_epoch=0)
    )

    info = log.append(
        memoryview(several), leader_epoch=2, now_ms=NOW, origin=AppendOrigin.COORDINATOR
    )

    assert (info.base_offset, info.last_offset) == (1, 3)
    assert [(each.offset, each.value) for each in read_all(log, 1)] == [
        (1, b"1"),
        (2, b"2"),
        (3, b"3"),
    ]
    assert log.segments[0].max_timestamp_offset == 3
    assert log.epoch_of(3) == 2


@pytest.mark.parametrize("damage", [0, 1, 2, 3])
def test_the_broker_is_checked_too(log: Log, damage: int) -> None:
    good = bytearray(batch(b"a"))
    records = [good[:-1], good + good[:30], bytearray(), good + b"\0" * len(good)][damage]

    with pytest.raises((CorruptBatch, InvalidRecord)):
        log.append(memoryview(records), leader_epoch=0, now_ms=NOW, origin=AppendOrigin.COORDINATOR)
    assert log.log_end_offset == 0
    assert log.size == 0


def test_records_that_are_to_blame_are_named(tmp_path: Path) -> None:
    log = open_log(tmp_path / "keys", LogConfig(cleanup_policy=frozenset({"compact"})))
    with pytest.raises(InvalidRecord) as caught:
        log.append(batch(b"a", b"b", key=None), leader_epoch=0, now_ms=NOW)
    assert [index for index, _ in caught.value.bad_records] == [0, 1]

    log = open_log(tmp_path / "times", LogConfig(message_timestamp_before_max_ms=1000))
    with pytest.raises(InvalidTimestamp) as late:
        log.append(batch(b"a", b"b", timestamp=NOW - 1001), leader_epoch=0, now_ms=NOW)
    assert [index for index, _ in late.value.bad_records] == [0]
