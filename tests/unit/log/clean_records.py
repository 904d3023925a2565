"""Records for compaction, and what is left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.unit.log.segment_files import (
    NOW,
    read_records,
)

from headwater.log.records.record import Record, encode_batch

if TYPE_CHECKING:
    from pathlib import Path


def record(offset: int, key: str | None, value: str | None) -> Record:
    return Record(
        offset,
        NOW - 1000 + offset,
        None if key is None else key.encode(),
        None if value is None else value.encode(),
    )


def batch(offset: int, *pairs: tuple[str | None, str | None], **options: Any) -> bytearray:
    return encode_batch(
        [record(offset + delta, *pair) for delta, pair in enumerate(pairs)], **options
    )


def survivors(directory: Path) -> list[tuple[int, str, str | None]]:
    return [
        (
            each.offset,
            (each.key or b"").decode(),
            None if each.value is None else each.value.decode(),
        )
        for each in read_records(directory)
    ]
