"""Ctrl-C and the other ways to ask a command to stop, as something that it looks at."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequests:
    """Set by Ctrl-C, SIGTERM and SIGHUP, so that everything can end in its order.

    A second Ctrl-C ends the command at once, in case that order takes too long.
    """

    def __init__(self) -> None:
        self._asked = False
        self.on_first: Callable[[], None] = lambda: None
        """What to do when the first request comes, such as to tell the user that it was heard."""

    def __bool__(self) -> bool:
        return self._asked

    def listen(self) -> None:
        """Take the signals."""
        for number in _SIGNALS:
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            if number == signal.SIGINT:
                signal.default_int_handler(number, frame)
            return
        self._asked = True
        self.on_first()


@contextmanager
def stop_requests() -> Iterator[StopRequests]:
    """Take the signals for as long as the block runs."""
    requests = StopRequests()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    requests.listen()
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
