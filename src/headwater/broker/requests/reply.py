"""The place of one response in its connection's order, from the request's arrival on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.broker.network.outbox import JOIN_BELOW

if TYPE_CHECKING:
    import asyncio

    from headwater.broker.network.connection import Connection
    from headwater.broker.requests.pending_answer import PendingAnswer
    from headwater.broker.requests.request import Part, Response


class Reply:
    """Completed once, by `send` or `skip`; it leaves when all before it have left."""

    __slots__ = ("_connection", "_expected", "_work", "held", "parts", "ready", "request_size")

    def __init__(self, connection: Connection, request_size: int) -> None:
        self._connection = connection
        self.request_size = request_size
        self._work: asyncio.Future[Any] | PendingAnswer | None = None
        self._expected = 0
        self.parts: list[Part] = []
        self.held = 0
        """The memory that the answer takes until it has left."""
        self.ready = False

    def expect(self, size: int) -> None:
        """Count an answer that comes later with the memory that it may take, or holds by then."""
        self._connection.expected += size - self._expected
        self._expected = size

    def send(self, header: bytes, body: Response) -> None:
        """Complete this response; it leaves as soon as those before it have left."""
        held = size = len(header)
        if isinstance(body, bytes):
            held = size = size + len(body)
            prefix = size.to_bytes(4, "big") + header
            self.parts = [prefix + body] if size < JOIN_BELOW else [prefix, body]
        else:
            for part in body:
                size += len(part)
                if isinstance(part, bytes):
                    held += len(part)
            self.parts = [size.to_bytes(4, "big") + header, *body]
        self.held = held
        self.ready = True
        connection = self._connection
        connection.unsent += held
        if self._expected:
            self.expect(0)
        connection.pump()

    def skip(self) -> None:
        """Complete without answering, as a produce with acks=0 wants."""
        self.ready = True
        self.expect(0)
        self._connection.pump()

    def attach(self, work: asyncio.Future[Any] | PendingAnswer) -> None:
        """Tie the work behind this reply to the connection: it is cancelled when that closes."""
        self._work = work

    def cancel(self) -> None:
        """Give up the work behind this reply."""
        self.expect(0)
        if self._work is not None and not self._work.done():
            self._work.cancel()
