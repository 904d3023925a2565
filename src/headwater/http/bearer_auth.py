"""HTTP bearer authentication (RFC 6750): a token that an identity provider has signed."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from headwater.http.principals import Principal
from headwater.security.jwt import TokenRefused, check_token

if TYPE_CHECKING:
    from headwater.http.authentication import Authenticator, Credentials
    from headwater.security.jwks import KeySource
    from headwater.security.jwt import Expectations

logger = logging.getLogger("headwater.http")

MOST_REMEMBERED = 1_000


class BearerAuth:
    """Knows principals by their tokens, and leaves who shows something else to others."""

    def __init__(
        self,
        keys: KeySource,
        expected: Expectations,
        realm: str = "headwater",
        others: Authenticator | None = None,
    ) -> None:
        own = f'Bearer realm="{realm}"'
        self.challenge = own if others is None else f"{others.challenge}, {own}"
        self._keys = keys
        self._expected = expected
        self._others = others
        # What was checked once is good until it expires: that costs more than a request.
        self._remembered: dict[bytes, tuple[Principal, float]] = {}

    def known(self, credentials: Credentials) -> Principal | None:
        """Return whose token it is if it was good before, and still is."""
        token = _token(credentials)
        if token is None:
            return None if self._others is None else self._others.known(credentials)
        principal, until = self._remembered.get(token, (None, 0.0))
        return principal if time.time() <= until else None

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        """Return who it is; None for strangers."""
        token = _token(credentials)
        if token is None:
            return None if self._others is None else await self._others.authenticate(credentials)
        return self.known(credentials) or self._check(token)

    def _check(self, token: bytes) -> Principal | None:
        self._remembered.pop(token, None)
        try:
            found = check_token(token.decode("latin-1"), self._keys, self._expected, time.time())
        except TokenRefused as reason:
            logger.info("a token was refused: %s", reason)
            return None
        if len(self._remembered) >= MOST_REMEMBERED:
            del self._remembered[next(iter(self._remembered))]
        principal = Principal(found.subject, method="BEARER")
        self._remembered[token] = principal, found.expires_at + self._expected.skew_s
        return principal


def _token(credentials: Credentials) -> bytes | None:
    scheme, _, token = (credentials.authorization or b"").partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else None
