"""Who has come in to a proxy that acts as its callers, and what each has there."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.rest.errors import too_many_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.clients.bearer_token import TokenSource
    from headwater.http.principals import Principal
    from headwater.rest.service import RestService

MOST_CALLERS = 100
# Of those who ask for a new one each time. An older one costs another login.
MOST_TOKENS = 20


@dataclass(eq=False)
class Caller:
    """Somebody whom the cluster has let in, and a service that is logged in there as them."""

    identity: str
    principal: Principal
    service: RestService
    tokens: TokenSource | None = None
    """Of one who came with a token; the next one of the same client makes it go on."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    requests: int = 0
    last_used: float = field(default_factory=time.monotonic)
    _idle: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def has_expired(self) -> bool:
        """Whether there is no token any more with which its clients could log in."""
        return self.tokens is not None and self.tokens.newest.has_expired

    @contextmanager
    def busy(self) -> Iterator[None]:
        """Count a request."""
        self.requests += 1
        self._idle.clear()
        try:
            yield
        finally:
            self.requests -= 1
            self.last_used = time.monotonic()
            if not self.requests:
                self._idle.set()

    async def end(self) -> None:
        """End its streams at once, and its clients when its other requests are answered."""
        self.ended.set()
        if self.requests:
            await self._idle.wait()
        await self.service.stop()


class Callers:
    """Callers by digests of what they show; there are so many, and no more."""

    def __init__(self) -> None:
        self._by_identity: dict[str, Caller] = {}
        self._shown: dict[bytes, tuple[Caller, float]] = {}

    def __iter__(self) -> Iterator[Caller]:
        return iter(list(self._by_identity.values()))

    def find(self, digest: bytes) -> Caller | None:
        """Return who has shown this before, if it is still good."""
        caller, expires_at = self._shown.get(digest, (None, math.inf))
        return caller if time.time() < expires_at else None

    def of(self, identity: str) -> Caller | None:
        """Return who has come in as this."""
        return self._by_identity.get(identity)

    def check_room(self) -> None:
        """Raise HttpError 429 where there is no room for one more."""
        if len(self._by_identity) >= MOST_CALLERS:
            raise too_many_requests("There are too many users at once.")

    def note(self, caller: Caller, digest: bytes, expires_at: float) -> None:
        """Know a caller by something that it has shown, for so long."""
        self._by_identity[caller.identity] = caller
        self._shown[digest] = caller, expires_at
        shown = self._shown_by(caller)
        for oldest in shown[:-MOST_TOKENS]:
            del self._shown[oldest]

    def forget(self, caller: Caller) -> None:
        """Know a caller no more."""
        del self._by_identity[caller.identity]
        for digest in self._shown_by(caller):
            del self._shown[digest]

    def _shown_by(self, caller: Caller) -> list[bytes]:
        return [digest for digest, (other, _) in self._shown.items() if other is caller]
