"""Tokens of an identity provider (JWT), with which clients log in by OAUTHBEARER."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from headwater.clients.errors import ClientError

if TYPE_CHECKING:
    from collections.abc import Mapping

_JWT = re.compile(r"[\w-]+\.([\w-]+)\.[\w-]+", re.ASCII)
_MOST_CHARACTERS = 64 * 1024
# What differs between two tokens that say the same of the same client.
_OF_ONE_TOKEN = frozenset({"exp", "iat", "nbf", "jti", "auth_time"})


@dataclass(frozen=True)
class BearerToken:
    """A token and what it says. Whether that is true is for the broker to tell."""

    text: str = field(repr=False)
    claims: Mapping[str, Any]
    expires_at: float
    """As `time.time` counts."""

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Return a token, or None for what no broker would take for one."""
        match = _JWT.fullmatch(text)
        if match is None or len(text) > _MOST_CHARACTERS:
            return None
        try:
            claims = json.loads(base64.urlsafe_b64decode(match[1] + "=" * (-len(match[1]) % 4)))
            expires_at = float(claims["exp"])
        except (binascii.Error, ValueError, LookupError, TypeError, OverflowError, RecursionError):
            return None
        return cls(text, claims, expires_at) if math.isfinite(expires_at) else None

    @property
    def has_expired(self) -> bool:
        """Whether its time is over."""
        return not time.time() < self.expires_at

    @property
    def identity(self) -> str:
        """Whose it is, as the next one of the same client says it as well."""
        said = {name: value for name, value in self.claims.items() if name not in _OF_ONE_TOKEN}
        return json.dumps(said, sort_keys=True)


class TokenSource:
    """The newest token of somebody: what librdkafka calls `oauth_cb`."""

    def __init__(self, token: BearerToken) -> None:
        self.newest = token

    def renew(self, token: BearerToken) -> None:
        """Take a token that lasts longer; clients get it when they ask next."""
        if token.expires_at > self.newest.expires_at:
            self.newest = token

    def __call__(self, _: str) -> tuple[str, float]:
        """Return the token and when it expires; ClientError is a failed login to librdkafka."""
        token = self.newest
        if token.has_expired:
            raise ClientError("the token has expired")
        return token.text, token.expires_at
