"""How many bytes of answers may wait for clients that do not take them, over all connections."""

from __future__ import annotations

MOST_PER_CONNECTION = 1024 * 1024
"""Unsent bytes, and those that waiting requests hold, after which a connection's next waits."""
MOST_IN_ALL = 64 * 1024 * 1024
"""Unsent bytes of all connections after which each has one request under way at a time."""


class AnswerBudget:
    """The bytes that are held for clients; every connection adds its own and takes them off again.

    Beyond the limit nobody is refused: a connection may always have one request under way. So a
    crowd that does not read can neither starve those who do nor come to a standstill itself.
    """

    __slots__ = ("held", "limit")

    def __init__(self, limit: int = MOST_IN_ALL) -> None:
        self.limit = limit
        self.held = 0
