"""Segments as plain files, for what works on files and needs no Log."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from headwater.log.compaction.clean_job import CleanedGroup, CleanJob, CleanStats
from headwater.log.compaction.clean_pass import clean_pass
from headwater.log.records.batch import BatchHeader, crc_of, parse_header
from headwater.log.records.record import Record, decode_records

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from headwater.log.records.batch import Buffer

KINDS = (".log", ".index", ".timeindex", ".txnindex")
NOW = 1_700_000_000_000


def write_segment(directory: Path, base_offset: int, batches: Iterable[Buffer]) -> None:
    for kind in KINDS[:3]:
        path = directory / f"{base_offset:020d}{kind}"
        path.write_bytes(b"".join(batches) if kind == ".log" else b"")


def segment_bases(directory: Path) -> tuple[int, ...]:
    return tuple(sorted(int(path.stem) for path in directory.glob("*.log")))


def read_batches(directory: Path) -> list[tuple[BatchHeader, bytes]]:
    batches = []
    for base in segment_bases(directory):
        data = (directory / f"{base:020d}.log").read_bytes()
        position = 0
        while position < len(data):
            header = parse_header(data, position)
            batch = data[position : position + header.size]
            assert header.crc == crc_of(batch)
            batches.append((header, batch))
            position += header.size
    return batches


def read_records(directory: Path) -> list[Record]:
    return [record for _, batch in read_batches(directory) for record in decode_records(batch)]


def job_for(directory: Path, upper_offset: int, **changes: Any) -> CleanJob:
    job = CleanJob(
        directory=str(directory),
        segments=tuple(base for base in segment_bases(directory) if base < upper_offset),
        first_dirty_offset=0,
        upper_offset=upper_offset,
        now_ms=NOW,
        delete_retention_ms=1000,
        segment_bytes=1 << 20,
        segment_index_bytes=1 << 20,
        index_interval_bytes=4096,
        map_memory=1 << 20,
    )
    return replace(job, **changes)


def swap_in(directory: Path, group: CleanedGroup) -> None:
    """What the log does with a finished group, without its precautions."""
    for base in group.segments:
        for kind in KINDS:
            (directory / f"{base:020d}{kind}").unlink(missing_ok=True)
    for path in directory.glob(f"{group.segments[0]:020d}.*.cleaned"):
        path.rename(path.with_suffix(""))


def clean(directory: Path, upper_offset: int, **changes: Any) -> CleanStats:
    """Run a pass here and put what it made in place."""
    stats = None
    for result in clean_pass(job_for(directory, upper_offset, **changes)):
        if isinstance(result, CleanStats):
            stats = result
        else:
            swap_in(directory, result)
    assert stats is not None
    assert not list(directory.glob("*.cleaned"))
    return stats
