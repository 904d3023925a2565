"""What is about to leave on a connection: bytes and regions of segments, in order."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from headwater.broker.network.transport import MORE_FOLLOWS
from headwater.log.segments.segment import FileSlice

if TYPE_CHECKING:
    from headwater.broker.network.transport import Transport
    from headwater.broker.requests.request import Part

JOIN_BELOW = 16 * 1024
"""Pieces smaller than this are worth a copy that saves a system call."""


class TornSegment(Exception):  # noqa: N818 - it says what was met
    """A segment is shorter than the answer that was promised of it."""


class Outbox:
    """A queue of parts in front of a transport."""

    __slots__ = ("_transport", "held", "parts")

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.parts: deque[Part] = deque()
        self.held = 0
        """The memory that the parts take; given back when all of them have left."""

    def clear(self) -> None:
        """Drop what has not left."""
        self.parts.clear()
        self.held = 0

    def flush(self) -> bool:
        """Send, and return whether everything has left; if not, the rest has to wait."""
        parts = self.parts
        transport = self._transport
        try:
            while parts:
                part = parts[0]
                if isinstance(part, FileSlice):
                    sent = transport.send_file(part.file.fd, part.position, part.length)
                    if sent == 0:
                        raise TornSegment(f"its fetch met the end of a segment at {part.position}")
                    if sent == part.length:
                        parts.popleft()
                    else:
                        parts[0] = FileSlice(part.file, part.position + sent, part.length - sent)
                    continue
                if len(parts) > 1 and len(part) < JOIN_BELOW:
                    part = self._join_small()
                sent = transport.send(part, MORE_FOLLOWS if len(parts) > 1 else 0)
                if sent < len(part):
                    parts[0] = part[sent:]
                else:
                    parts.popleft()
        except (BlockingIOError, InterruptedError):
            return False
        return True

    def _join_small(self) -> bytes:
        """Merge the small pieces at the head of the queue into one, to save system calls."""
        parts = self.parts
        pieces: list[bytes] = []
        size = 0
        while parts and not isinstance(parts[0], FileSlice) and size < JOIN_BELOW:
            piece = parts.popleft()
            assert isinstance(piece, bytes)
            pieces.append(piece)
            size += len(piece)
        joined = b"".join(pieces)
        parts.appendleft(joined)
        return joined
