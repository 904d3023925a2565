"""A client's WebSocket: its messages are sent no faster than it reads, and not after it left."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeAlias

from headwater.http.errors import ClientDisconnectedError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from headwater.http.answers import Answer
    from headwater.http.asgi import Message, Receive, Send
    from headwater.http.request import Request

NORMAL = 1000
UNSUPPORTED = 1003
"""What is said by ksqlDB of all that it refuses."""
POLICY_VIOLATION = 1008
INTERNAL_ERROR = 1011
TRY_AGAIN_LATER = 1013

_MOST_REASON_BYTES = 123  # the protocol's limit
_DISCONNECT = "websocket.disconnect"


class WebSocket:
    """One client that wants to go on by messages, or has been let do so."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send

    async def accept(self) -> None:
        """Let the client in."""
        await self._receive()  # the client's wish, which comes first
        await self._send({"type": "websocket.accept"})

    async def deny(self, answer: Answer) -> None:
        """Answer the wish as any other request."""
        headers = [*answer.headers, (b"content-length", str(len(answer.body)).encode())]
        if answer.content_type is not None:
            headers.append((b"content-type", answer.content_type.encode()))
        start = {"status": answer.status, "headers": headers}
        await self._send({"type": "websocket.http.response.start", **start})
        await self._send({"type": "websocket.http.response.body", "body": answer.body})

    async def send(self, text: bytes) -> None:
        """Send a text message; raises ClientDisconnectedError."""
        await self._say({"type": "websocket.send", "text": text.decode()})

    async def close(self, code: int, reason: str) -> None:
        """Say why there is no more, cut if it is long; raises ClientDisconnectedError."""
        await self._say({"type": "websocket.close", "code": code, "reason": _cut(reason)})

    async def while_connected(self, work: Coroutine[None, None, None]) -> None:
        """Work until it is done or the client has left; what it says meanwhile is not looked at."""
        working = asyncio.ensure_future(work)
        leaving = asyncio.create_task(self._until_disconnected())
        try:
            await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            leaving.cancel()
            if not working.done():
                working.cancel()
            await asyncio.wait({working, leaving})
        if not working.cancelled():
            working.result()

    async def _say(self, message: Message) -> None:
        try:
            await self._send(message)
        except OSError as failure:
            raise ClientDisconnectedError(str(failure)) from None

    async def _until_disconnected(self) -> None:
        while (await self._receive())["type"] != _DISCONNECT:
            pass


SocketHandler: TypeAlias = "Callable[[Request, WebSocket], Awaitable[None]]"


def _cut(reason: str) -> str:
    encoded = reason.encode()
    if len(encoded) <= _MOST_REASON_BYTES:
        return reason
    return encoded[: _MOST_REASON_BYTES - 3].decode("utf-8", "ignore") + "..."
