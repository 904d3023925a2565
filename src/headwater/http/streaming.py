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


# Where the server puts an event that is set when it stops: in the state of a scope.
STOPPING = "headwater.stopping"


async def send_stream(
    start: Message, stream: Stream, body: Body, send: Send, stopping: asyncio.Event | None
) -> None:
    """Send all of a stream, or as much of it as client and server stay for."""
    sending = asyncio.create_task(_send(start, stream, send))
    ends = {asyncio.create_task(body.until_disconnected())}
    orders = [stream.until, stopping if stream.is_endless else None]
    ends |= {asyncio.create_task(_wait(order)) for order in orders if order is not None}
    try:
        await asyncio.wait({sending, *ends}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for end in ends:
            end.cancel()
        if not sending.done():
            sending.cancel()
        await asyncio.wait({sending})
        if stream.on_close is not None:
            stream.on_close()
    if not sending.cancelled():
        sending.result()
    elif any(order is not None and order.is_set() for order in orders):
        await send({"type": "http.response.body", "body": b""})


async def generator_of(chunks: AsyncIterable[bytes]) -> AsyncGenerator[bytes, None]:
    """Return chunks as something that can be closed; an iterator without aclose() is not."""
    iterator = aiter(chunks)
    try:
        async for chunk in iterator:
            yield chunk
    finally:
        close = getattr(iterator, "aclose", None)
        if close is not None:
            await close()


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def _send(start: Message, stream: Stream, send: Send) -> None:
    try:
        async with aclosing(generator_of(stream.chunks)) as chunks:
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
