"""Answers that are remembered, byte for byte, each for the principal who got it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from headwater.http.asgi import Message
    from headwater.http.principals import Principal
    from headwater.http.routes import Route

MAX_ANSWERS = 10_000
MAX_ANSWER_BYTES = 100_000


class Key(NamedTuple):
    """What makes two requests the same."""

    principal: Principal
    path: bytes
    query: bytes
    media_type: str


class Remembered(NamedTuple):
    """An answer as the server sends it."""

    route: Route
    start: Message
    body: Message


class AnswerCache:
    """Remembers answers to GET requests until the service says that something changed."""

    def __init__(self, max_answers: int = MAX_ANSWERS) -> None:
        self._answers: dict[tuple[object, ...], Remembered] = {}
        self._max_answers = max_answers
        self.get = self._answers.get
        self.changes = 0  # how often something changed

    def forget(self) -> None:
        """Remember nothing of what was: something changed."""
        self.changes += 1
        self._answers.clear()

    def put(self, key: Key, answer: Remembered, changes: int) -> None:
        """Remember an answer, unless it is large, or older than what changed meanwhile."""
        if changes != self.changes or len(answer.body["body"]) > MAX_ANSWER_BYTES:
            return
        if len(self._answers) >= self._max_answers:
            self._answers.clear()
        self._answers[key] = answer
