"""How many clients of a listener have proved who they are, and how many could not."""

from __future__ import annotations


class AuthenticationCounts:
    """Counted by TLS and SASL, and read by the metrics."""

    __slots__ = ("failed", "reauthenticated", "succeeded")

    def __init__(self) -> None:
        self.succeeded = 0
        self.failed = 0
        self.reauthenticated = 0
