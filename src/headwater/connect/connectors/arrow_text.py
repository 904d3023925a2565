"""Texts of an Arrow column as pieces of its memory, without a Python object for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa


def text_of(column: pa.ChunkedArray) -> Iterator[memoryview]:
    """Return the UTF-8 of all texts, one directly after the other; a null is nothing.

    >>> import pyarrow as pa
    >>> b"".join(text_of(pa.chunked_array([["a,", "b,"], ["c,", None]])[1:]))
    b'b,c,'
    """
    import pyarrow as pa

    for chunk in column.chunks:
        _, offsets, data = chunk.buffers()
        if not len(chunk) or offsets is None or data is None:
            continue
        at = memoryview(offsets).cast("q" if pa.types.is_large_string(chunk.type) else "i")
        yield memoryview(data)[at[chunk.offset] : at[chunk.offset + len(chunk)]]
