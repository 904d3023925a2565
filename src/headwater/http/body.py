"""A request's body: whole, or chunk by chunk as it comes, and never more than is allowed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from headwater.http.errors import ClientDisconnectedError, request_timeout, too_large

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from headwater.http.asgi import Receive, Scope


# A whole body has to come within this time, plus what it takes at the slowest rate.
WHOLE_WITHIN_S = 30.0
MIN_BYTES_PER_S = 10_000


class Body:
    """What a client sends, taken from the server when somebody asks for it."""

    def __init__(
        self,
        receive: Receive | None = None,
        limit: int | None = None,
        declared: int = 0,
        *,
        is_empty: bool = False,
    ) -> None:
        self._receive = receive
        self._limit = limit
        self._declared = declared
        self._completed: asyncio.Event | None = None
        self.size = 0
        self.is_complete = receive is None or is_empty

    @classmethod
    def of(
        cls, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive, limit: int | None
    ) -> Body:
        """Return the body of a request, which HTTP/1.1 announces in its head."""
        declared = headers.get(b"content-length", b"")
        size = int(declared) if declared.isdigit() else 0
        is_announced = size > 0 or b"transfer-encoding" in headers or scope["http_version"] == "2"
        return cls(receive, limit, size, is_empty=not is_announced)

    def lift_limit(self) -> None:
        """Let it be of any size: whoever takes it part by part has limits of his own."""
        self._limit = None

    async def whole(self) -> bytes:
        """Return all of it; raises HttpError 408, 413, ClientDisconnectedError."""
        parts: list[bytes] = []
        if self.is_complete:
            return b""
        deadline = asyncio.get_running_loop().time() + WHOLE_WITHIN_S
        try:
            async with asyncio.timeout_at(deadline) as limit:
                async for chunk in self.chunks():
                    parts.append(chunk)
                    limit.reschedule(deadline + self.size / MIN_BYTES_PER_S)
        except TimeoutError:
            raise request_timeout() from None
        return b"".join(parts)

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
