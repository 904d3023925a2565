"""Is a service well? Asked without a password, so that whoever supervises it can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.answers import JSON, Answer, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PATH = "health"


class Health:
    """Answers GET /health: 200 if no check complains, 503 and the complaints otherwise."""

    def __init__(self, checks: Mapping[str, Callable[[], str | None]] | None = None) -> None:
        self._checks = dict(checks or {})

    def add(self, name: str, check: Callable[[], str | None]) -> None:
        """Add a check, which returns what is wrong."""
        self._checks[name] = check

    def answer(self) -> Answer:
        """Return how the service is."""
        complaints = {
            name: complaint
            for name, check in self._checks.items()
            if (complaint := check()) is not None
        }
        status = "DOWN" if complaints else "UP"
        value = {"status": status, **({"reasons": complaints} if complaints else {})}
        return Answer(encode(value), 503 if complaints else 200, JSON)
