"""Read one file of a log and say what is in it, as Kafka's dump tool does.

for line in dump_file(Path("data/orders-0/00000000000000000000.log"), records=True):
    print(line.text)
"""

from __future__ import annotations

import os
import re
import struct
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import google_crc32c

from headwater.log.disk import read_at
from headwater.log.dump_lines import (
    AbortedTransactionLine,
    BatchLine,
    CheckpointLine,
    DumpLine,
    EpochLine,
    IndexLine,
    Note,
    Problem,
    ProducerLine,
    RecordLine,
    TimeIndexLine,
)
from headwater.log.errors import CorruptBatch, LogError
from headwater.log.records.batch import HEADER_SIZE, crc_of, parse_header
from headwater.log.records.batch_walk import walk
from headwater.log.records.record import decode_records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.log.records.batch import BatchHeader


def dump_file(
    path: Path,
    *,
    records: bool = False,
    contents: bool = False,
    metadata: bool = True,
    max_bytes: int | None = None,
) -> Iterator[DumpLine]:
    """Yield the lines of a segment, index, snapshot or checkpoint file, chosen by its name.

    For a segment, `records` adds a line for each record, `contents` their keys and values,
    `metadata=False` leaves out everything else about them, and `max_bytes` stops early.
    A damaged file yields Problem lines; one that is no log file raises LogError.
    """
    name = _TRANSIENT_SUFFIX.sub("", path.name)
    suffix = name[name.rfind(".") :]
    if suffix == ".log":
        deep = records or contents
        yield from _dump_segment(path, deep, contents, metadata, max_bytes)
    elif suffix == ".index":
        yield from _dump_index(path)
    elif suffix == ".timeindex":
        yield from _dump_time_index(path)
    elif suffix == ".txnindex":
        yield from _dump_transaction_index(path)
    elif suffix == ".snapshot":
        yield from _dump_producer_snapshot(path)
    elif name.endswith("checkpoint"):
        yield from _dump_checkpoint(path)
    else:
        raise LogError(
            f"'{path.name}' is no file of a log that can be dumped. Give a .log, .index, "
            ".timeindex, .txnindex, .snapshot or checkpoint file."
        )


_TRANSIENT_SUFFIX = re.compile(r"\.(cleaned|swap|deleted)$")

_INDEX_ENTRY = struct.Struct(">ii")
_TIME_INDEX_ENTRY = struct.Struct(">qi")
_ABORTED_TRANSACTION = struct.Struct(">hqqqq")
_SNAPSHOT_HEADER = struct.Struct(">hIi")
_SNAPSHOT_CHECKED = 6
_SNAPSHOT_ENTRY = struct.Struct(">qhiqiqiq")


def _dump_segment(
    path: Path, deep: bool, contents: bool, metadata: bool, max_bytes: int | None
) -> Iterator[DumpLine]:
    yield Note(f"Log starting offset: {_base_offset(path)}")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        end = size if max_bytes is None else min(size, max_bytes)
        valid = 0
        try:
            for position, header in walk(partial(read_at, file.fileno()), 0, end):
                batch = read_at(file.fileno(), header.size, position)
                yield BatchLine(header, position, header.crc == crc_of(batch))
                if deep:
                    yield from _dump_records(batch, header, contents, metadata)
                valid = position + header.size
        except CorruptBatch as error:
            if max_bytes is None:
                yield Problem(str(error))
        if valid < size and max_bytes is None:
            yield Note(f"Found {size - valid} invalid bytes at the end of {path.name}")


def _dump_records(
    batch: bytes, header: BatchHeader, contents: bool, metadata: bool
) -> Iterator[DumpLine]:
    try:
        for record in decode_records(batch):
            yield RecordLine(record, header.timestamp_type, header.is_control, metadata, contents)
    except CorruptBatch as error:
        yield Problem(str(error))


def _dump_index(path: Path) -> Iterator[DumpLine]:
    base = _base_offset(path)
    entries = list(_entries(path, _INDEX_ENTRY, offset_at=0))
    if not entries:
        yield Note(f"{path} is empty.")
    log = _log_file(path)
    if not log.exists():
        yield Problem(f"{log} is missing, so the index cannot be compared with it.")
        yield from (IndexLine(base + relative, position) for relative, position in entries)
        return
    with log.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        for relative, position in entries:
            yield IndexLine(base + relative, position)
            if not 0 <= position <= size - HEADER_SIZE:
                yield Problem(f"Index offset: {base + relative} points past the end of {log.name}")
                continue
            header = parse_header(os.pread(file.fileno(), HEADER_SIZE, position))
            if header.last_offset != base + relative:
                yield Problem(f"Index offset: {base + relative}, log offset: {header.last_offset}")


def _dump_time_index(path: Path) -> Iterator[DumpLine]:
    base = _base_offset(path)
    entries = [
        TimeIndexLine(timestamp, base + relative)
        for timestamp, relative in _entries(path, _TIME_INDEX_ENTRY, offset_at=1)
    ]
    log = _log_file(path)
    if not log.exists():
        yield Problem(f"{log} is missing, so the index cannot be compared with it.")
        yield from entries
        return
    with log.open("rb") as file:
        batches = _headers(file.fileno(), os.fstat(file.fileno()).st_size)
        header = next(batches, None)
        previous = -1
        for entry in entries:
            while header is not None and header.last_offset < entry.offset:
                header = next(batches, None)
            yield entry
            if header is None or header.last_offset != entry.offset:
                found = -1 if header is None else header.last_offset
                yield Problem(f"Indexed offset: {entry.offset}, found log offset: {found}")
            elif header.max_timestamp != entry.timestamp:
                yield Problem(
                    f"Index timestamp: {entry.timestamp}, log timestamp: {header.max_timestamp}"
                )
            if entry.timestamp <= previous:
                yield Problem(
                    f"Index timestamp: {entry.timestamp}, previously indexed timestamp: {previous}"
                )
            previous = entry.timestamp


def _dump_transaction_index(path: Path) -> Iterator[DumpLine]:
    data = path.read_bytes()
    size = _ABORTED_TRANSACTION.size
    for fields in _ABORTED_TRANSACTION.iter_unpack(data[: len(data) // size * size]):
        yield AbortedTransactionLine(*fields)
    if len(data) % size:
        yield Problem(f"Found {len(data) % size} invalid bytes at the end of {path.name}")


def _dump_producer_snapshot(path: Path) -> Iterator[DumpLine]:
    data = path.read_bytes()
    if len(data) < _SNAPSHOT_HEADER.size:
        yield Problem(f"{path.name} is too short for a producer snapshot: {len(data)} bytes.")
        return
    _, crc, count = _SNAPSHOT_HEADER.unpack_from(data)
    # What follows the entries is ours: Kafka does not look there either.
    entries = data[_SNAPSHOT_HEADER.size :][: max(count, 0) * _SNAPSHOT_ENTRY.size]
    if crc != google_crc32c.value(data[_SNAPSHOT_CHECKED:]):
        yield Problem(f"{path.name} has a wrong CRC, so what follows may be wrong too.")
    if count * _SNAPSHOT_ENTRY.size != len(entries):
        yield Problem(f"{path.name} claims {count} producers in {len(data)} bytes.")
        entries = entries[: len(entries) // _SNAPSHOT_ENTRY.size * _SNAPSHOT_ENTRY.size]
    for fields in _SNAPSHOT_ENTRY.iter_unpack(entries):
        yield ProducerLine(*fields)


def _dump_checkpoint(path: Path) -> Iterator[DumpLine]:
    try:
        _, count, *lines = path.read_text("utf-8").splitlines()
        entries = [line.rsplit(" ", 2) for line in lines]
        if int(count) != len(lines):
            yield Problem(f"{path.name} claims {count} entries and has {len(lines)}.")
        for entry in entries:
            *topic, number, offset = entry
            if topic:
                yield CheckpointLine(topic[0], int(number), int(offset))
            else:
                yield EpochLine(int(number), int(offset))
    except ValueError as error:
        yield Problem(f"{path.name} is no checkpoint that can be read: {error}.")


def _headers(fd: int, end: int) -> Iterator[BatchHeader]:
    with suppress(CorruptBatch):
        # Dumping the segment itself tells of its damage.
        yield from (header for _, header in walk(partial(read_at, fd), 0, end))


def _entries(path: Path, entry: struct.Struct, offset_at: int) -> Iterator[tuple[int, ...]]:
    data = path.read_bytes()
    whole = data[: len(data) // entry.size * entry.size]
    for number, fields in enumerate(entry.iter_unpack(whole)):
        # Kafka makes the file longer than it needs at first; the rest of it is zeros.
        if number and not fields[offset_at]:
            return
        if not number and not any(fields) and len(whole) > entry.size:
            return
        yield fields


def _base_offset(path: Path) -> int:
    try:
        return int(path.name.split(".")[0])
    except ValueError:
        raise LogError(
            f"'{path.name}' is not named after the first offset in it, "
            "as in 00000000000000000000.log."
        ) from None


def _log_file(index: Path) -> Path:
    transient = _TRANSIENT_SUFFIX.search(index.name)
    return index.with_name(index.name.split(".")[0] + ".log" + (transient[0] if transient else ""))
