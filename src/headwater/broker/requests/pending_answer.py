"""An answer that is not there yet, and whoever waits for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from headwater.broker.requests.request import Response


class PendingAnswer:
    """Given once, and told at once; a client that has hung up meanwhile does not want it any more.

        answer = PendingAnswer()
        commits.request(partition, lambda error: answer.give(body))
        return answer

    A future tells a round of the event loop later. All that has arrived meanwhile would be served
    first, and what was answered long ago would wait for that.
    """

    __slots__ = ("_body", "_is_done", "_tell")

    def __init__(self) -> None:
        self._body: Response | None = None
        self._is_done = False
        self._tell: Callable[[Response], None] | None = None

    def done(self) -> bool:
        """Whether it was given, or is not wanted any more."""
        return self._is_done

    def give(self, body: Response) -> None:
        """Tell who waits."""
        if self._is_done:
            return
        self._is_done = True
        self._body = body
        if self._tell is not None:
            self._tell(body)

    def cancel(self) -> None:
        """Want it no more."""
        self._is_done = True
        self._tell = None

    def when_given(self, tell: Callable[[Response], None]) -> None:
        """Call back with the answer; at once if it is there."""
        if self._body is not None:
            tell(self._body)
        elif not self._is_done:
            self._tell = tell

    def __await__(self) -> Generator[None, None, Response]:
        """Wait for it as for a future, on the way of a transaction."""
        given: asyncio.Future[Response] = asyncio.get_running_loop().create_future()

        def pass_on(body: Response) -> None:
            if not given.done():
                given.set_result(body)

        self.when_given(pass_on)
        return (yield from given.__await__())
