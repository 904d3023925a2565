"""One client's connection: frames in, responses out in the order of their requests.

Watches a non-blocking descriptor instead of using an asyncio transport, because only so can a
large frame be received into its final buffer and a segment be sent with `sendfile`. What the bytes
go through is the business of `transport.py`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from headwater.broker.network.answer_budget import MOST_PER_CONNECTION
from headwater.broker.network.outbox import Outbox, TornSegment
from headwater.broker.network.scratch import Scratch
from headwater.broker.requests.reply import Reply
from headwater.log.rate_limited_logger import RateLimitedLogger

if TYPE_CHECKING:
    import asyncio

    from headwater.broker.network.answer_budget import AnswerBudget
    from headwater.broker.network.transport import Transport
    from headwater.broker.sasl.login import Login
    from headwater.broker.session import Session

logger = logging.getLogger("headwater.broker")
_closings = RateLimitedLogger(logger, burst=3)

MAX_IN_FLIGHT = 256
"""Unanswered requests after which a connection is no longer read: bounds a pipelining client."""
FIRST_ALLOCATION = 16 * 1024
"""What a frame's buffer has at least; it grows as bytes come, since a claim of 100 MB is cheap."""
GROWTH = 4
"""How many times what has arrived a buffer may be large."""
MOST_TRUST = 1024 * 1024 + FIRST_ALLOCATION
"""Up to here a frame's buffer may be as large as a frame that this client did send before: 1 MB is
what producers send at most by default."""
TURN_S = 0.001
"""How long one client's requests are served before others have their turn."""

_SIZE_PREFIX = 4
_TLS_HANDSHAKE = 0x1603
"""How the first message of TLS begins; as the size of a frame it would be 353 MB."""
_PLAIN = ("PLAINTEXT", "SASL_PLAINTEXT")
_scratch = Scratch()

FrameHandler = Callable[["Connection", memoryview, Reply], None]


class Connection:
    """Reads frames from a transport, hands them on, and writes the replies in order."""

    __slots__ = (
        "_budget", "_charged", "_closed", "_filled", "_flush_is_crossed", "_frame", "_handle",
        "_has_reader", "_has_writer", "_head", "_held", "_is_established", "_loop",
        "_muted_until", "_on_close", "_out", "_paused", "_read_is_crossed", "_replies", "_size",
        "_transport", "_trust", "_turn", "_unmute", "_writing", "expected", "last_active",
        "login", "max_frame", "session", "unsent",
    )  # fmt: skip

    def __init__(
        self,
        transport: Transport,
        session: Session,
        loop: asyncio.AbstractEventLoop,
        handle: FrameHandler,
        on_close: Callable[[Connection], None],
        max_frame: int,
        budget: AnswerBudget,
    ) -> None:
        self.session = session
        """Who is at the other end; replaced when the client authenticates."""
        self._transport = transport
        self._loop = loop
        self._handle = handle
        self._on_close = on_close
        self.max_frame = max_frame
        """The size of the largest request that is taken."""
        self.login: Login | None = None
        """How far the client has come with logging in, on a listener with SASL."""
        self._budget = budget
        self._charged = 0
        self._head = b""
        self._held = 0
        self._frame: bytearray | None = None
        self._filled = 0
        self._size = 0
        self._trust = FIRST_ALLOCATION
        self._replies: deque[Reply] = deque()
        self._out = Outbox(transport)
        self.unsent = 0
        """Bytes of answers that are held in memory and have not left yet."""
        self.expected = 0
        """Bytes that the answers under way may take, and fetches that wait do."""
        self._turn: asyncio.Handle | None = None
        self._writing = False
        self._paused = False
        self._unmute: asyncio.TimerHandle | None = None
        self._muted_until = 0.0
        self._closed = False
        self._has_reader = self._has_writer = False
        self._read_is_crossed = self._flush_is_crossed = False
        self.last_active = monotonic()
        self._is_established = transport.is_established
        if self._is_established:
            self._watch()
        else:
            self._shake_hands()

    @property
    def fd(self) -> int:
        """The descriptor of its socket."""
        return self._transport.fd

    @property
    def is_established(self) -> bool:
        """Whether the handshake of its transport is over."""
        return self._is_established

    @property
    def is_waiting(self) -> bool:
        """Whether this client waits for the broker, and not the broker for this client."""
        return bool(self._replies) and not self._writing

    def close(self, reason: str | None = None, kind: object = None) -> None:
        """Hang up and give up the unanswered requests.

        A reason is logged, and those of one kind not without end.
        """
        if self._closed:
            return
        self._closed = True
        self._writing = False
        if self._unmute is not None:
            self._unmute.cancel()
        if self._turn is not None:
            self._turn.cancel()
        if reason is not None:
            _closings.warning(
                kind or reason, "closed the connection from %s: %s", self.session, reason
            )
        self._watch()
        self._transport.close()
        for reply in self._replies:
            reply.cancel()
        self._replies.clear()
        self._out.clear()
        self._head = b""
        self._frame = None
        self.login = None
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
        out = self._out
        while replies and replies[0].ready and not self._writing:
            reply = replies.popleft()
            self._held -= reply.request_size
            out.parts.extend(reply.parts)
            out.held += reply.held
            if not replies or not replies[0].ready:
                self._flush()
        if self.unsent != self._charged:
            self._charge()
        if self._paused:
            self._resume()

    # -- when to read and when to write

    def _watch(self) -> None:
        """Have the event loop call back for what this connection waits for, and nothing else."""
        reads = not self._closed and (
            self._flush_is_crossed or not (self._paused or self._read_is_crossed)
        )
        writes = not self._closed and (
            self._read_is_crossed or (self._writing and not self._flush_is_crossed)
        )
        fd = self._transport.fd
        if reads != self._has_reader:
            self._has_reader = reads
            if reads:
                self._loop.add_reader(fd, self._on_readable)
            else:
                self._loop.remove_reader(fd)
        if writes != self._has_writer:
            self._has_writer = writes
            if writes:
                self._loop.add_writer(fd, self._on_writable)
            else:
                self._loop.remove_writer(fd)

    def _shake_hands(self) -> None:
        try:
            self._transport.handshake()
        except (BlockingIOError, InterruptedError):
            self._read_is_crossed = self._transport.is_crossed
        except ConnectionError as error:
            # Whoever looks whether the port is open connects and hangs up.
            logger.debug("connection from %s lost in its handshake: %s", self.session, error)
            self.close()
        except OSError as error:
            self.close(f"its handshake failed: {error}", kind=("handshake", str(error)))
        else:
            self._is_established = True
            self._read_is_crossed = False
            if self._transport.authentication is not None:
                self.session = self.session.authenticated(self._transport.authentication)
            if self._transport.has_pending:
                self._loop.call_soon(self._on_readable)
        self.last_active = monotonic()
        self._watch()

    def _uncross(self) -> None:
        """Try again what waited for the other direction."""
        if self._flush_is_crossed:
            self._flush_is_crossed = False
            if self._flush():
                self.pump()
        if self._read_is_crossed:
            self._read_is_crossed = False
            if not self._paused:
                self._receive()
        self._watch()

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._watch()

    def _resume(self) -> None:
        if self._unmute is None and not self._is_full():
            self._paused = False
            self._watch()
            self._take_turn_soon()

    def _on_unmute(self) -> None:
        self._unmute = None
        self._resume()

    def _take_turn_soon(self) -> None:
        """Go on with what has been received already, after everybody else's."""
        if self._turn is None and (self._head or self._transport.has_pending):
            self._turn = self._loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._turn = None
        if self._paused or self._closed:
            return
        if self._head:
            self.last_active = monotonic()
            head, self._head = self._head, b""
            self._feed(memoryview(head))
        if self._transport.has_pending and self._turn is None and not self._paused:
            self._receive()

    def _is_full(self) -> bool:
        return (
            len(self._replies) >= MAX_IN_FLIGHT
            or self._held > self.max_frame
            or self.unsent + self.expected > MOST_PER_CONNECTION
            or (self._budget.held > self._budget.limit and bool(self._replies or self._writing))
        )

    def _charge(self) -> None:
        if self._closed:
            self.unsent = 0
        self._budget.held += self.unsent - self._charged
        self._charged = self.unsent

    # -- reading

    def _on_readable(self) -> None:
        if self._turn is not None:
            return
        if not self._is_established:
            self._shake_hands()
        elif self._flush_is_crossed:
            self._uncross()
        else:
            self._receive()

    def _receive(self) -> None:
        try:
            if self._frame is None:
                view = _scratch.view
                received = self._transport.receive_into(view)
                self.last_active = monotonic()
                if received:
                    self._feed(view[:received])
            else:
                received = self._receive_into_frame()
        except (BlockingIOError, InterruptedError):
            if self._transport.is_crossed:
                self._read_is_crossed = True
                self._watch()
            return
        except OSError as error:
            # A reset is how many clients hang up; it is no news to an operator.
            logger.debug("connection from %s lost: %s", self.session, error)
            self.close()
            return
        if not received:
            self.close("it ended in the middle of a frame" if self._frame or self._head else None)
        elif self._transport.has_pending:
            self._take_turn_soon()

    def _receive_into_frame(self) -> int:
        frame = self._frame
        assert frame is not None
        with memoryview(frame) as view, view[self._filled :] as rest:
            received = self._transport.receive_into(rest)
        self.last_active = monotonic()
        self._filled += received
        if self._filled == self._size:
            self._frame = None
            self._trust = max(self._trust, min(self._size, MOST_TRUST))
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
        if 0 < size <= self.max_frame:
            return True
        if size == 0 and self.login is not None and self.login.takes_bare_messages:
            return True
        if size >> 16 == _TLS_HANDSHAKE and self.session.security_protocol in _PLAIN:
            self.close(
                f"it speaks TLS, and the listener {self.session.listener} speaks plain text"
                f" ({self.session.security_protocol}); set security.protocol of the client to"
                " that, or have it connect to a listener that speaks TLS",
                kind="TLS",
            )
            return False
        problem = "is not positive" if size <= 0 else f"exceeds {self.max_frame}"
        self.close(
            f"its frame claims {size} bytes, which {problem} (socket.request.max.bytes, or before a"
            " login sasl.server.max.receive.size); it may not be speaking Kafka's protocol",
            kind="frame size",
        )
        return False

    def _begin_frame(self, size: int, start: memoryview) -> None:
        frame = bytearray(min(size, max(self._trust, GROWTH * len(start))))
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

    # -- writing

    def _flush(self) -> bool:
        """Send what is in the queue and return whether all of it has left."""
        out = self._out
        try:
            if not out.flush():
                if not self._writing or self._transport.is_crossed:
                    self._writing = True
                    self._flush_is_crossed = self._transport.is_crossed
                    self._watch()
                return False
        except TornSegment as torn:
            self.close(str(torn), kind=TornSegment)
            return False
        except OSError as error:
            logger.debug("connection from %s lost: %s", self.session, error)
            self.close()
            return False
        self.last_active = monotonic()
        self.unsent -= out.held
        out.held = 0
        if self._writing:
            self._writing = False
            self._watch()
        return True

    def _on_writable(self) -> None:
        if not self._is_established:
            self._shake_hands()
        elif self._read_is_crossed:
            self._uncross()
        if self._writing and not self._flush_is_crossed:
            self.last_active = monotonic()
            if self._flush():
                self.pump()
