"""One request on a connection of HTTP/2: what comes for it, and what is sent, within its window."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from h2.exceptions import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from h2.connection import H2Connection
    from h2.errors import ErrorCodes

    from headwater.http.asgi import Message

# These belong to a connection of HTTP/1.1, and HTTP/2 forbids them.
_FORBIDDEN = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade"}
)


class Http2Stream:
    """What an application calls `receive` and `send`."""

    def __init__(
        self,
        h2: H2Connection,
        id_: int,
        flush: Callable[[], None],
        drain: Callable[[], Awaitable[None]],
    ) -> None:
        self.id = id_
        self.window = asyncio.Event()  # set when the client may have made room
        self._h2 = h2
        self._flush = flush
        self._drain = drain
        self._came = asyncio.Event()
        self._body = bytearray()
        self._to_acknowledge = 0
        self._more_body = True
        self._is_complete = False
        self._has_left = False

    def take(self, data: bytes, flow_controlled_length: int) -> None:
        """Keep a part of the body until somebody wants it; only then may more of it come."""
        self._body += data
        self._to_acknowledge += flow_controlled_length
        self._came.set()

    def end(self) -> None:
        """The body is complete."""
        self._more_body = False
        self._came.set()

    def leave(self) -> None:
        """The client does not want the answer any more."""
        self._has_left = True
        self._came.set()
        self.window.set()

    def finish(self, code: ErrorCodes) -> None:
        """Reset the stream, unless its answer is whole."""
        try:
            if not self._is_complete and not self._has_left:
                self._h2.reset_stream(self.id, code)
            if self._to_acknowledge:
                # What nobody read must not take from the window of the connection for ever.
                self._h2.acknowledge_received_data(self._to_acknowledge, self.id)
        except ProtocolError:
            pass  # the client was faster: stream or connection are closed
        self._has_left = True
        self._flush()

    async def receive(self) -> Message:
        """Return the next part of the body, or that the client left."""
        if not self._has_left and not self._is_complete:
            await self._came.wait()
            self._came.clear()
        if self._has_left or self._is_complete:
            return {"type": "http.disconnect"}
        body = bytes(self._body)
        self._body.clear()
        if self._to_acknowledge:
            self._h2.acknowledge_received_data(self._to_acknowledge, self.id)
            self._to_acknowledge = 0
            self._flush()
        return {"type": "http.request", "body": body, "more_body": self._more_body}

    async def send(self, message: Message) -> None:
        """Send a head, or a part of a body as the window allows."""
        try:
            if message["type"] == "http.response.start":
                await self._send_head(message)
            elif message["type"] == "http.response.body":
                await self._send_body(message.get("body", b""), message.get("more_body", False))
        except ProtocolError:
            self.leave()  # it closed the stream or the connection meanwhile

    async def _send_head(self, message: Message) -> None:
        await self._drain()
        if self._has_left:
            return
        status = str(message["status"]).encode()
        headers = [(name, value) for name, value in message["headers"] if name not in _FORBIDDEN]
        self._h2.send_headers(self.id, [(b":status", status), *headers])
        self._flush()

    async def _send_body(self, body: bytes, more_body: bool) -> None:
        sent = 0
        while sent < len(body) and not self._has_left:
            window = self._h2.local_flow_control_window(self.id)
            room = min(window, self._h2.max_outbound_frame_size)
            if room <= 0:
                self.window.clear()
                await self.window.wait()
                continue
            self._h2.send_data(self.id, body[sent : sent + room])
            sent += room
            self._flush()
            await self._drain()
        if not more_body and not self._has_left:
            self._h2.end_stream(self.id)
            self._is_complete = True
            self._came.set()
            self._flush()
