"""A question that many ask and one thread answers: who comes meanwhile gets the same answer."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from typing import TYPE_CHECKING, Generic, TypeVar

from headwater.clients.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = TypeVar("Answer")


class SharedAnswer(Generic[Answer]):
    """Asks in a thread of its own, so that nobody waits longer than they want to.

    Whoever is asked may be silent for a long time. The first to ask waits for a while, and who
    comes later is told at once how long it has been silent.
    """

    def __init__(self, question: Callable[[], Answer], who: str) -> None:
        self._question = question
        self._who = who
        self._lock = threading.Lock()
        self._under_way: tuple[Future[Answer], float] | None = None
        self._last: tuple[Answer, float] | None = None

    @property
    def last(self) -> tuple[Answer, float] | None:
        """The last answer, and when it came by the monotonic clock."""
        return self._last

    def begin(self) -> tuple[Future[Answer], float]:
        """Ask, unless somebody does; returns the answer to be, and since when it is asked for."""
        with self._lock:
            if self._under_way is None:
                future: Future[Answer] = Future()
                self._under_way = (future, time.monotonic())
                threading.Thread(
                    target=self._ask, args=(future,), name="console-look", daemon=True
                ).start()
            return self._under_way

    def get(self, within_s: float) -> Answer:
        """Return the next answer; raises ClientError, also where it takes too long."""
        future, since = self.begin()
        try:
            return future.result(max(since + within_s - time.monotonic(), 0.0))
        except TimeoutError:
            silent_s = time.monotonic() - since
            raise ClientError(f"{self._who} has not answered for {silent_s:.0f} s") from None

    def anew(self, within_s: float) -> Answer:
        """Return an answer that was asked for after this call."""
        with self._lock:
            under_way = self._under_way
        if under_way is not None:
            future, since = under_way
            # Its failure is told to those who asked for it.
            try:
                future.exception(max(since + within_s - time.monotonic(), 0.0))
            except TimeoutError:
                return self.get(within_s)
        return self.get(within_s)

    def _ask(self, future: Future[Answer]) -> None:
        try:
            answer = self._question()
        except BaseException as failure:
            with self._lock:
                self._under_way = None
            future.set_exception(failure)
        else:
            with self._lock:
                self._last = (answer, time.monotonic())
                self._under_way = None
            future.set_result(answer)
