"""Sessions: who has logged in, by a cookie that only this process can read."""

from __future__ import annotations

import secrets
import time
from typing import NamedTuple

COOKIE = "headwater_session"
LASTS_S = 12 * 3600
MAX_SESSIONS = 1_000


class _Session(NamedTuple):
    authorization: bytes
    ends: float


class Sessions:
    """Keeps what users have shown, for so long; the oldest goes when there are too many."""

    def __init__(self) -> None:
        self._sessions: dict[str, _Session] = {}

    def begin(self, authorization: bytes) -> str:
        """Remember credentials that were right, and return the cookie's value."""
        while len(self._sessions) >= MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        token = secrets.token_urlsafe(32)
        self._sessions[token] = _Session(authorization, time.monotonic() + LASTS_S)
        return token

    def authorization(self, token: str) -> bytes | None:
        """Return the credentials behind a cookie, unless its time is over."""
        session = self._sessions.get(token)
        if session is None:
            return None
        if session.ends < time.monotonic():
            del self._sessions[token]
            return None
        return session.authorization

    def end(self, token: str) -> None:
        """Forget a session."""
        self._sessions.pop(token, None)
