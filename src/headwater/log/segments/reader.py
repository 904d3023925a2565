"""Read the batches of a finished segment from front to back, each with its CRC checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.log.disk import OpenFile
from headwater.log.errors import CorruptBatch
from headwater.log.records.batch import HEADER_SIZE, BatchHeader, crc_of
from headwater.log.records.batch_walk import checked_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_READ_SIZE = 1 << 20


def read_batches(
    path: str, on_read: Callable[[int], None] | None = None
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Yield each batch of a file; raises CorruptBatch at the first that is damaged.

    `on_read` is told of every read's size, before its batches are given out.
    """
    file = OpenFile(path)
    end = file.size
    position = start = 0
    chunk = b""

    def fill(needed: int) -> bytes:
        data = file.read(min(max(_READ_SIZE, needed), end - position), position)
        if on_read is not None:
            on_read(len(data))
        return data

    while position < end:
        if position + HEADER_SIZE > start + len(chunk):
            chunk, start = fill(HEADER_SIZE), position
        header = _header(path, chunk, position - start, position, end)
        if position + header.size > start + len(chunk):
            chunk, start = fill(header.size), position
        batch = memoryview(chunk)[position - start : position - start + header.size]
        if crc_of(batch) != header.crc:
            raise CorruptBatch(
                f"{path} is damaged: the batch at byte {position} (offset {header.base_offset}) "
                "fails its CRC."
            )
        yield header, batch
        position += header.size


def _header(path: str, chunk: bytes, index: int, position: int, end: int) -> BatchHeader:
    try:
        return checked_header(chunk, index, position, end)
    except CorruptBatch as error:
        raise CorruptBatch(f"{path} is damaged: {error}") from error
