"""An answer that is there at once, or comes when whoever was asked calls back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from headwater.broker.requests.pending_answer import PendingAnswer

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.broker.requests.request import Response

Result = TypeVar("Result")


class LaterAnswer(Generic[Result]):
    """Hand it over as a callback, and return its `response` from the handler.

        answer = LaterAnswer(partial(_encode, version))
        shard.join(request, answer)
        return answer.response()

    A client that has hung up meanwhile does not want its answer any more.
    """

    __slots__ = ("_body", "_encode", "_pending")

    def __init__(self, encode: Callable[[Result], bytes]) -> None:
        self._encode = encode
        self._body: bytes | None = None
        self._pending: PendingAnswer | None = None

    def __call__(self, result: Result) -> None:
        """Give the answer."""
        body = self._encode(result)
        if self._pending is None:
            self._body = body
        else:
            self._pending.give(body)

    def response(self) -> Response | PendingAnswer:
        """Return the answer, or what it will be in."""
        if self._body is not None:
            return self._body
        self._pending = PendingAnswer()
        return self._pending
