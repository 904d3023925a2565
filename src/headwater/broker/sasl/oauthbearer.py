"""OAUTHBEARER (RFC 7628): a token that an identity provider has signed says who somebody is."""

from __future__ import annotations

import json
import re
from time import time
from typing import TYPE_CHECKING

from headwater.broker.sasl.mechanism import LoginRefused, Step
from headwater.security.jwt import TokenRefused, check_token

if TYPE_CHECKING:
    from headwater.security.jwks import KeySource
    from headwater.security.jwt import Expectations

NAME = "OAUTHBEARER"

_FIRST = re.compile(
    r"n,(?:a=(?P<identity>(?:[^=,\x01]|=2C|=3D)+))?,\x01"
    r"(?P<pairs>(?:[A-Za-z]+=[\x21-\x7e \t\r\n]*\x01)*)\x01"
)
_BEARER = re.compile(r"(?:^|\x01)auth=Bearer +(?P<token>[-_.A-Za-z0-9]+)\x01", re.IGNORECASE)


class OauthBearerExchange:
    """One message with a token; a bad one is answered, and refused when that has been read."""

    def __init__(self, keys: KeySource, expected: Expectations) -> None:
        self._keys = keys
        self._expected = expected
        self._refusal: LoginRefused | None = None

    def take(self, message: bytes) -> Step:
        """Check the token."""
        if self._refusal is not None:
            raise self._refusal
        match = _FIRST.fullmatch(message.decode(errors="replace"))
        bearer = _BEARER.search(match["pairs"]) if match is not None else None
        if match is None or bearer is None:
            raise LoginRefused("Invalid OAUTHBEARER client first message")
        try:
            token = check_token(bearer["token"], self._keys, self._expected, time())
        except TokenRefused as reason:
            error = json.dumps({"status": "invalid_token"})
            self._refusal = LoginRefused(f"{error}: {reason}")
            return Step(error.encode())
        identity = (match["identity"] or "").replace("=2C", ",").replace("=3D", "=")
        if identity not in ("", token.subject):
            raise LoginRefused(
                "Authentication failed: Client requested an authorization id that is different"
                " from the token's principal name"
            )
        return Step(b"", token.subject, token.expires_at)
