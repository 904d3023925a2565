"""Batches and logs for the tests of the log, and a way to read everything back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.log.compaction.cleaned_segment import CleanedSegment
from headwater.log.config import LogConfig
from headwater.log.dump import dump_file
from headwater.log.dump_lines import BatchLine, Problem
from headwater.log.log import AppendInfo, Log
from headwater.log.records.batch import parse_header
from headwater.log.records.record import Record, decode_records, encode_batch

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NOW = 1_700_000_000_000
TOPIC_ID = bytes(range(16))

SMALL_SEGMENTS = LogConfig(segment_bytes=2000, index_interval_bytes=100)


def batch(
    *values: bytes | None, timestamp: int = NOW, key: bytes | None = b"k", **options: Any
) -> memoryview:
    """A producer's batch: one record for each value, each a millisecond after the one before."""
    records = [Record(delta, timestamp + delta, key, value) for delta, value in enumerate(values)]
    return memoryview(encode_batch(records, **options))


def open_log(directory: Path, config: LogConfig | None = None, **options: Any) -> Log:
    options.setdefault("clean", True)
    options.setdefault("now_ms", NOW)
    return Log.open(directory / "orders-0", config or LogConfig(), **options)


def append(
    log: Log, *values: bytes, now_ms: int = NOW, epoch: int = 0, **options: Any
) -> AppendInfo:
    return log.append(batch(*values, **options), leader_epoch=epoch, now_ms=now_ms)


def fill(log: Log, count: int, start: int = 0) -> None:
    """Batches of one record each, a second apart; about twenty to a small segment."""
    for number in range(start, start + count):
        append(log, b"value %03d" % number, timestamp=NOW + number * 1000, now_ms=NOW + 10**7)


def read_all(log: Log, offset: int | None = None) -> list[Record]:
    """Read as a client does: whole batches from an offset on, until nothing more comes."""
    position = log.log_start_offset if offset is None else offset
    start = position
    records: list[Record] = []
    while True:
        data = log.read(position, 1000, log.end).read()
        if not data:
            return [record for record in records if record.offset >= start]
        at = 0
        while len(data) - at >= 61 and parse_header(data, at).size <= len(data) - at:
            header = parse_header(data, at)
            records.extend(decode_records(data[at : at + header.size]))
            at += header.size
            position = header.next_offset


def values(log: Log, offset: int | None = None) -> list[bytes | None]:
    return [record.value for record in read_all(log, offset)]


def write_cleaned(log: Log, kept: Iterable[int]) -> Path:
    """Leave what a compaction of the log's first segments leaves: some of their records."""
    cleaned = CleanedSegment(str(log.directory), 0, index_interval=100)
    for offset in kept:
        data = encode_batch([Record(offset, NOW + offset, b"k", b"value %03d" % offset)])
        cleaned.append(data, parse_header(data))
    cleaned.finish((), modified_ns=0)
    return log.directory / f"{0:020d}"


def assert_files_are_sound(directory: Path) -> None:
    """What the dump tool says of every file: all batches valid, all indexes true."""
    for path in directory.iterdir():
        if path.suffix not in (".log", ".index", ".timeindex"):
            continue
        for line in dump_file(path):
            assert not isinstance(line, Problem), f"{path.name}: {line}"
            assert not isinstance(line, BatchLine) or line.is_valid, f"{path.name}: {line}"
