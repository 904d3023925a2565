"""What is wrong with a program, found while it is built."""

from __future__ import annotations


class PlanError(Exception):
    """A program that cannot run; the message says what is wrong, where, and what to do."""

    def __init__(self, reason: str, location: str = "") -> None:
        super().__init__(f"{location}: {reason}" if location else reason)
        self.reason = reason
        self.location = location


class ExpressionError(PlanError):
    """An expression with a wrong name or a wrong type."""

    def at(self, location: str) -> ExpressionError:
        """Return the same error with the place in the user's program."""
        return ExpressionError(self.reason, location)
