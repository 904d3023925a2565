"""A piece of a file as an Arrow column of lines, without a Python object for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def complete_length(chunk: bytes, most: int) -> int:
    r"""Return how many bytes the first lines of a chunk are that have their ends.

    >>> complete_length(b"one\ntwo\r\n\nfour\nfi", 3), complete_length(b"fi", 3)
    (10, 0)
    """
    ends = _ends(chunk, most)
    return int(ends[-1]) if len(ends) else 0


def complete_lines(chunk: bytes, most: int) -> tuple[pa.Array | None, int]:
    r"""Return the first lines of a chunk that have their ends, and how many bytes they are.

    Ends are \n or \r\n. What is no UTF-8 is replaced, line by line.

    >>> lines, length = complete_lines(b"one\ntwo\r\n\nfour\nfi", 3)
    >>> lines.to_pylist(), length
    (['one', 'two', ''], 10)
    >>> complete_lines(b"fi", 3)
    (None, 0)
    >>> complete_lines("thr\xe4e\n".encode("latin-1"), 3)[0].to_pylist()
    ['thr\ufffde']
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = _ends(chunk, most)
    if not len(ends):
        return None, 0
    length = int(ends[-1])
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = ends
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(chunk)]
    lines = pa.Array.from_buffers(pa.binary(), len(ends), buffers)
    try:
        text = lines.cast(pa.string())
    except pa.ArrowInvalid:
        text = pa.array([line.decode("utf-8", "replace") for line in lines.to_pylist()])
    text = pc.ascii_rtrim(text, "\n")  # each has one alone
    if chunk.find(b"\r\n", 0, length) >= 0:
        ends_with_return = pc.ends_with(text, "\r")
        shorter = pc.utf8_slice_codeunits(text, 0, -1)
        text = pc.if_else(ends_with_return, shorter, text)
    return text, length


def _ends(chunk: bytes, most: int) -> np.ndarray:
    import numpy as np

    return np.flatnonzero(np.frombuffer(chunk, np.uint8) == ord("\n"))[:most] + 1
