"""Walk from batch to batch through a segment's file by their headers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.log.errors import CorruptBatch
from headwater.log.records.batch import HEADER_SIZE, LOG_OVERHEAD, MAGIC, BatchHeader, parse_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    ReadAt = Callable[[int, int], bytes]
    """Reads so many bytes from a position of a file, fewer only at its end."""

_CHUNK = 16 * 1024
_MAX_OFFSET_DELTA = 2**31 - 1


def walk(read: ReadAt, position: int, end: int) -> Iterator[tuple[int, BatchHeader]]:
    """Yield position and header of every batch from `position` to `end`.

    Raises CorruptBatch at the first bytes that cannot be a batch. Only headers are read, however
    large the batches are.
    """
    chunk = b""
    start = position
    while position < end:
        if position + HEADER_SIZE > start + len(chunk):
            chunk = read(min(_CHUNK, end - position), position)
            start = position
        try:
            header = checked_header(chunk, position - start, position, end)
        except CorruptBatch as error:
            error.position = position
            raise
        yield position, header
        position += header.batch_length + LOG_OVERHEAD


def checked_header(chunk: bytes, index: int, position: int, end: int) -> BatchHeader:
    """Parse the header at `index` of a chunk and see that it can be true.

    `position` is its place in the file and `end` the place where the file's batches end.
    """
    if len(chunk) - index < HEADER_SIZE:
        raise CorruptBatch(
            f"The header at byte {position} is cut off after {len(chunk) - index} bytes."
        )
    header = parse_header(chunk, index)
    if header.magic != MAGIC:
        raise CorruptBatch(f"The batch at byte {position} has magic {header.magic}, not {MAGIC}.")
    size = header.batch_length + LOG_OVERHEAD
    if size < HEADER_SIZE:
        raise CorruptBatch(f"The batch at byte {position} claims to have only {size} bytes.")
    if position + size > end:
        raise CorruptBatch(
            f"The batch at byte {position} claims to have {size} bytes, "
            f"but only {end - position} follow."
        )
    if header.base_offset < 0 or not 0 <= header.last_offset_delta < _MAX_OFFSET_DELTA:
        raise CorruptBatch(
            f"The batch at byte {position} claims the offsets {header.base_offset} "
            f"to {header.last_offset}."
        )
    return header
