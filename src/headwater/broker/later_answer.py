"""An answer that is there at once, or comes when whoever was asked calls back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from headwater.broker.request import Response

Result = TypeVar("Result")


class LaterAnswer(Generic[Result]):
    """Hand it over as a callback, and return its `response` from the handler.

        answer = LaterAnswer(broker.loop, partial(_encode, version))
        shard.join(request, answer)
        return answer.response()

    A client that has hung up meanwhile does not want its answer any more.
    """

    __slots__ = ("_body", "_encode", "_future", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, encode: Callable[[Result], bytes]) -> None:
        self._loop = loop
        self._encode = encode
        self._body: bytes | None = None
        self._future: asyncio.Future[Response] | None = None

    def __call__(self, result: Result) -> None:
        """Give the answer."""
        body = self._encode(result)
        if self._future is None:
            self._body = body
        elif not self._future.done():
            self._future.set_result(body)

    def response(self) -> Response | asyncio.Future[Response]:
        """Return the answer, or what it will be in."""
        if self._body is not None:
            return self._body
        self._future = self._loop.create_future()
        return self._future
