"""Fetch requests of many partitions, packed by hand: by the schema, each would take seconds."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

VERSION = 7
_PARTITION = struct.Struct(">iqqi")
_MOST_BYTES = 50 << 20


def fetch_frame(
    topic: str,
    indexes: Iterable[int],
    *,
    offset: int = 0,
    session_id: int = 0,
    session_epoch: int = -1,
    max_wait_ms: int = 0,
) -> bytes:
    """A request, without its length, that is answered when there is a byte to read."""
    head = struct.pack(">hhih", 1, VERSION, 1, -1)
    limits = struct.pack(">iiiib", -1, max_wait_ms, 1, _MOST_BYTES, 0)
    session = struct.pack(">ii", session_id, session_epoch)
    partitions = [_PARTITION.pack(index, offset, 0, 1 << 20) for index in indexes]
    named = struct.pack(">h", len(topic)) + topic.encode() + struct.pack(">i", len(partitions))
    topics = struct.pack(">i", 1) + named if partitions else bytes(4)
    return b"".join((head, limits, session, topics, *partitions, bytes(4)))


def session_id_in(answer: bytes) -> int:
    """The session that an answer names; 0 for none."""
    return int.from_bytes(answer[10:14], "big")
