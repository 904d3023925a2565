"""One client's socket: frames in, responses out in the order of their requests.

Works on the raw non-blocking socket instead of an asyncio transport, because only so can a
large frame be received into its final buffer and a segment be sent with `sendfile`.
"""

from __future__ import annotations

import logging
import os
import socket
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

from headwater.broker.answer_budget import MOST_PER_CONNECTION
from headwater.log.segment import FileSlice

if TYPE_CHECKING:
    import asyncio

    from headwater.broker.answer_budget import AnswerBudget
    from headwater.broker.request import Part, Response

logger = logging.getLogger("headwater.broker")

SCRATCH_BYTES = 64 * 1024
MAX_IN_FLIGHT = 256
"""Unanswered requests after which a connection is no longer read: bounds a pipelining client."""
FIRST_ALLOCATION = 16 * 1024
"""What a frame's buffer has at least; it grows as bytes come, since a claim of 100 MB is cheap."""
GROWTH = 4
"""How many times what has arrived a buffer may be large."""
TURN_S = 0.001
"""How long one client's requests are served before others have their turn."""

_SIZE_PREFIX = 4
_MSG_MORE = getattr(socket, "MSG_MORE", 0)
_JOIN_BELOW = 16 * 1024
_scratch = bytearray(SCRATCH_BYTES)
_scratch_view = memoryview(_scratch)


class Reply:
    """The place of one response in its connection's order."""

    __slots__ = ("_connection", "_expected", "_work", "held", "parts", "ready", "request_size")

    def __init__(self, connection: Connection, request_size: int) -> None:
        self._connection = connection
        self.request_size = request_size
        self._work: asyncio.Future[Any] | None = None
        self._expected = 0
        self.parts: list[Part] = []
        self.held = 0
        """The memory that the answer takes until it has left."""
        self.ready = False

    def expect(self, size: int) -> None:
        """Count an answer that comes later with the size that it may have."""
        self._connection.expected += size - self._expected
        self._expected = size

    def send(self, header: bytes, body: Response) -> None:
        """Complete this response; it leaves as soon as those before it have left."""
        held = size = len(header)
        if isinstance(body, bytes):
            held = size = size + len(body)
            self.parts = [size.to_bytes(4, "big") + header, body]
        else:
            for part in body:
                size += len(part)
                if isinstance(part, bytes):
                    held += len(part)
            self.parts = [size.to_bytes(4, "big") + header, *body]
        self.held = held
        self._connection.unsent += held
        self._complete()

    def skip(self) -> None:
        """Complete without answering, as a produce with acks=0 wants."""
        self._complete()

    def attach(self, work: asyncio.Future[Any]) -> None:
        """Tie the work behind this reply to the connection: it is cancelled when that closes."""
        self._work = work

    def cancel(self) -> None:
        """Give up the work behind this reply."""
        if self._work is not None and not self._work.done():
            self._work.cancel()

    def _complete(self) -> None:
        self._connection.expected -= self._expected
        self.ready = True
        self._connection.pump()


FrameHandler = Callable[["Connection", memoryview, Reply], None]


class Connection:
    """Reads frames from a socket, hands them on, and writes the replies in order."""

    __slots__ = (
        "_budget", "_charged", "_closed", "_fd", "_filled", "_frame", "_handle", "_head", "_held",
        "_leaving", "_loop", "_max_frame", "_muted_until", "_on_close", "_out", "_paused",
        "_replies", "_size", "_socket", "_turn", "_unmute", "_writing", "expected", "last_active",
        "listener", "peer", "peer_host", "unsent",
    )  # fmt: skip

    def __init__(
        self,
        sock: socket.socket,
        peer: tuple[str, int],
        listener: str,
        loop: asyncio.AbstractEventLoop,
        handle: FrameHandler,
        on_close: Callable[[Connection], None],
        max_frame: int,
        budget: AnswerBudget,
    ) -> None:
        self._socket = sock
        self._fd = sock.fileno()
        self._loop = loop
        self._handle = handle
        self._on_close = on_close
        self._max_frame = max_frame
        self._budget = budget
        self._charged = 0
        self._head = b""
        self._held = 0
        self._frame: bytearray | None = None
        self._filled = 0
        self._size = 0
        self._replies: deque[Reply] = deque()
        self._out: deque[Part] = deque()
        self._leaving = 0
        self.unsent = 0
        """Bytes of answers that are held in memory and have not left yet."""
        self.expected = 0
        """Bytes that the answers under way may take."""
        self._turn: asyncio.Handle | None = None
        self._writing = False
        self._paused = False
        self._unmute: asyncio.TimerHandle | None = None
        self._muted_until = 0.0
        self._closed = False
        self.listener = listener
        self.peer_host = peer[0]
        self.peer = f"{peer[0]}:{peer[1]}"
        self.last_active = monotonic()
        loop.add_reader(self._fd, self._on_readable)

    @property
    def is_waiting(self) -> bool:
        """Whether this client waits for the broker, and not the broker for this client."""
        return bool(self._replies) and not self._writing

    def close(self, reason: str | None = None) -> None:
        """Close the socket and give up its unanswered requests; a reason is logged once."""
        if self._closed:
            return
        self._closed = True
        if self._unmute is not None:
            self._unmute.cancel()
        if self._turn is not None:
            self._turn.cancel()
        if reason is not None:
            logger.warning("closed the connection from %s: %s", self.peer, reason)
        if not self._paused:
            self._loop.remove_reader(self._fd)
        if self._writing:
            self._loop.remove_writer(self._fd)
        self._socket.close()
        for reply in self._replies:
            reply.cancel()
        self._replies.clear()
        self._out.clear()
        self._head = b""
        self._frame = None
        self._charge()
        self._on_close(self)

    def mute(self, seconds: float) -> None:
        """Take no more requests for so long; those that are under way are answered."""
        until = self._loop.time() + seconds
        if self._closed or until <= self._muted_until:
            return
        if self._unmute is not None:
            self._unmute.cancel()
        self._muted_until = until
        self._unmute = self._loop.call_at(until, self._on_unmute)
        self._pause()

    def pump(self) -> None:
        """Send what is ready, in order, and read on if that freed a place."""
        if self._closed:
            return
        replies = self._replies
        while replies and replies[0].ready and not self._writing:
            reply = replies.popleft()
            self._held -= reply.request_size
            self._leaving += reply.held
            self._out.extend(reply.parts)
            if not replies or not replies[0].ready:
                self._flush()
        if self.unsent != self._charged:
            self._charge()
        if self._paused:
            self._resume()

    # -- reading

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._loop.remove_reader(self._fd)

    def _resume(self) -> None:
        if self._paused and self._unmute is None and not self._closed and not self._is_full():
            self._paused = False
            self._loop.add_reader(self._fd, self._on_readable)
            self._take_turn_soon()

    def _on_unmute(self) -> None:
        self._unmute = None
        self._resume()

    def _take_turn_soon(self) -> None:
        """Go on with requests that have been received already, after everybody else's."""
        if self._head and self._turn is None:
            self._turn = self._loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._turn = None
        if not self._paused:
            self.last_active = monotonic()
            head, self._head = self._head, b""
            self._feed(memoryview(head))

    def _on_readable(self) -> None:
        if self._turn is not None:
            return
        try:
            if self._frame is None:
                received = self._socket.recv_into(_scratch)
                self.last_active = monotonic()
                if received:
                    self._feed(_scratch_view[:received])
            else:
                received = self._receive_into_frame()
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            # A reset is how many clients hang up; it is no news to an operator.
            logger.debug("connection from %s lost: %s", self.peer, error)
            self.close()
            return
        if not received:
            self.close("it ended in the middle of a frame" if self._frame or self._head else None)

    def _receive_into_frame(self) -> int:
        frame = self._frame
        assert frame is not None
        with memoryview(frame) as view, view[self._filled :] as rest:
            received = self._socket.recv_into(rest)
        self.last_active = monotonic()
        self._filled += received
        if self._filled == self._size:
            self._frame = None
            self._dispatch(frame)
        elif self._filled == len(frame):
            frame.extend(bytes(min((GROWTH - 1) * len(frame), self._size - len(frame))))
        return received

    def _feed(self, chunk: memoryview) -> None:
        if self._head:
            chunk = memoryview(self._head + chunk)
            self._head = b""
        position = 0
        end = len(chunk)
        is_first = True
        while position < end and not self._closed:
            if end - position < _SIZE_PREFIX or self._paused:
                self._head = bytes(chunk[position:])
                return
            if is_first:
                is_first = False
            elif monotonic() > self.last_active + TURN_S:
                self._head = bytes(chunk[position:])
                self._take_turn_soon()
                return
            size = int.from_bytes(chunk[position : position + _SIZE_PREFIX], "big", signed=True)
            position += _SIZE_PREFIX
            if not self._check_size(size):
                return
            if end - position >= size:
                self._dispatch(bytearray(chunk[position : position + size]))
                position += size
            else:
                self._begin_frame(size, chunk[position:])
                return

    def _check_size(self, size: int) -> bool:
        if 0 < size <= self._max_frame:
            return True
        problem = "is not positive" if size <= 0 else f"exceeds {self._max_frame}"
        self.close(
            f"its frame claims {size} bytes, which {problem} (socket.request.max.bytes); "
            "it may not be speaking Kafka's protocol"
        )
        return False

    def _begin_frame(self, size: int, start: memoryview) -> None:
        frame = bytearray(min(size, max(FIRST_ALLOCATION, GROWTH * len(start))))
        frame[: len(start)] = start
        self._frame = frame
        self._filled = len(start)
        self._size = size

    def _dispatch(self, frame: bytearray) -> None:
        reply = Reply(self, len(frame))
        self._replies.append(reply)
        self._held += len(frame)
        self._handle(self, memoryview(frame), reply)
        if (self._replies or self._writing) and self._is_full():
            self._pause()

    def _is_full(self) -> bool:
        return (
            len(self._replies) >= MAX_IN_FLIGHT
            or self._held > self._max_frame
            or self.unsent + self.expected > MOST_PER_CONNECTION
            or (self._budget.held > self._budget.limit and bool(self._replies or self._out))
        )

    def _charge(self) -> None:
        if self._closed:
            self.unsent = 0
        self._budget.held += self.unsent - self._charged
        self._charged = self.unsent

    # -- writing

    def _flush(self) -> None:
        out = self._out
        try:
            while out:
                part = out[0]
                if isinstance(part, FileSlice):
                    sent = os.sendfile(self._fd, part.file.fd, part.position, part.length)
                    if sent == 0:
                        # The file is shorter than promised: the frame can't be completed.
                        self.close(f"its fetch met the end of a segment at {part.position}")
                        return
                    out[0] = FileSlice(part.file, part.position + sent, part.length - sent)
                    if sent == part.length:
                        out.popleft()
                    continue
                if len(out) > 1 and len(part) < _JOIN_BELOW:
                    part = self._join_small()
                sent = self._socket.send(part, _MSG_MORE if len(out) > 1 else 0)
                if sent < len(part):
                    out[0] = part[sent:]
                else:
                    out.popleft()
        except (BlockingIOError, InterruptedError):
            if not self._writing:
                self._writing = True
                self._loop.add_writer(self._fd, self._on_writable)
            return
        except OSError as error:
            logger.debug("connection from %s lost: %s", self.peer, error)
            self.close()
            return
        self.last_active = monotonic()
        self.unsent -= self._leaving
        self._leaving = 0
        if self._writing:
            self._writing = False
            self._loop.remove_writer(self._fd)

    def _on_writable(self) -> None:
        self._flush()
        if not self._writing:
            self.pump()

    def _join_small(self) -> bytes:
        """Merge the small pieces at the head of the queue into one, to save system calls."""
        out = self._out
        pieces: list[bytes] = []
        size = 0
        while out and not isinstance(out[0], FileSlice) and size < _JOIN_BELOW:
            piece = out.popleft()
            assert isinstance(piece, bytes)
            pieces.append(piece)
            size += len(piece)
        joined = b"".join(pieces)
        out.appendleft(joined)
        return joined
