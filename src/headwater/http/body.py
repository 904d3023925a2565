"""A request's body: whole, or chunk by chunk as it comes, and never more than is allowed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from headwater.http.errors import ClientDisconnectedError, too_large

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from headwater.http.asgi import Receive


class Body:
    """What a client sends, taken from the server when somebody asks for it."""

    def __init__(
        self, receive: Receive | None = None, limit: int | None = None, declared: bytes = b""
    ) -> None:
        self._receive = receive
        self._limit = limit
        self._declared = int(declared) if declared.isdigit() else 0
        self._completed: asyncio.Event | None = None
        self.size = 0
        self.is_complete = receive is None

    async def whole(self) -> bytes:
        """Return all of it; raises HttpError 413, ClientDisconnectedError."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        """Iterate over it as it comes; raises HttpError 413, ClientDisconnectedError."""
        if self._limit is not None and self._declared > self._limit:
            raise too_large(self._limit)
        while not self.is_complete:
            assert self._receive is not None
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnectedError
            chunk: bytes = message.get("body", b"")
            self.size += len(chunk)
            if self._limit is not None and self.size > self._limit:
                raise too_large(self._limit)
            self.is_complete = not message.get("more_body", False)
            if self.is_complete and self._completed is not None:
                self._completed.set()
            if chunk:
                yield chunk

    async def until_disconnected(self) -> None:
        """Return when the client is gone; as long as the body comes, `chunks` is who notices."""
        if not self.is_complete:
            self._completed = asyncio.Event()
            await self._completed.wait()
        if self._receive is not None:
            while (await self._receive())["type"] != "http.disconnect":
                pass
