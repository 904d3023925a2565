"""What a SASL mechanism is: messages to and fro, at whose end somebody is known."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class LoginRefused(Exception):  # noqa: N818 - it says what became of it
    """A client has not proved who it is. What a client may be told is the message."""

    def __init__(self, told: str, reason: str | None = None) -> None:
        super().__init__(told)
        self.reason = reason or told
        """What an operator is told."""


class Step(NamedTuple):
    """What is said to a client, and who it is when nothing more has to be said."""

    answer: bytes
    user: str | None = None
    expires_at: float | None = None
    """When what was proved is good no more (`time.time`), if that is known."""
    by_token: bool = False
    """Whether it was a delegation token of the user's that proved it."""


class Exchange(Protocol):
    """One attempt of one client to log in."""

    def take(self, message: bytes) -> Step:
        """Take a message of the client's; raises LoginRefused."""
