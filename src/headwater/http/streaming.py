"""Sending a stream: chunk by chunk, no faster than the client takes it, and not after it left."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING

from headwater.http.errors import ClientDisconnectedError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable

    from headwater.http.answers import Stream
    from headwater.http.asgi import Message, Send
    from headwater.http.body import Body


async def send_stream(start: Message, stream: Stream, body: Body, send: Send) -> None:
    """Send all of a stream, or as much of it as the client stays for."""
    sending = asyncio.create_task(_send(start, stream, send))
    leaving = asyncio.create_task(body.until_disconnected())
    try:
        await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        leaving.cancel()
        if not sending.done():
            sending.cancel()
        await asyncio.wait({sending})
    if not sending.cancelled():
        sending.result()


async def _send(start: Message, stream: Stream, send: Send) -> None:
    try:
        async with aclosing(_generator(stream.chunks)) as chunks:
            await send(start)
            async for chunk in chunks:
                if chunk:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    # A source that always has more must not keep others from the event loop, nor
                    # this request from learning that its client left.
                    await asyncio.sleep(0)
    except ClientDisconnectedError:
        return  # in the middle of its request
    await send({"type": "http.response.body", "body": b""})


async def _generator(chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes, None]:
    # An iterator that has no aclose() is not closed.
    iterator = aiter(chunks)
    try:
        async for chunk in iterator:
            yield chunk
    finally:
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()
