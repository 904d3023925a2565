"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, 7677), the server's part.

The password is never sent. Who does not exist gets the same answers as who mistypes a password,
made with the same calculations.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from time import time_ns
from typing import TYPE_CHECKING

from headwater.broker.sasl.mechanism import LoginRefused, Step
from headwater.broker.sasl.scram_credentials import NOBODY, imitation

if TYPE_CHECKING:
    from headwater.broker.delegation_tokens.delegation_tokens import DelegationTokens
    from headwater.broker.sasl.scram_credentials import (
        ScramCredential,
        ScramCredentials,
        ScramMechanism,
    )

_FIRST = re.compile(
    r"(?P<header>[ny],(?:a=(?P<identity>[^,]*))?,)"
    r"(?P<bare>n=(?P<user>[^,]+),r=(?P<nonce>[\x21-\x2b\x2d-\x7e]+)(?P<more>(?:,[a-zA-Z][^=]*=[^,]*)*))"
)
_FINAL = re.compile(
    r"(?P<signed>c=(?P<binding>[A-Za-z0-9+/=]+),r=(?P<nonce>[^,]+)(?:,[a-zA-Z]=[^,]*)*)"
    r",p=(?P<proof>[A-Za-z0-9+/=]+)"
)

_TOKEN = "tokenauth=true"
"""Kafka's extension: the name is a delegation token's id, and the password its HMAC."""


class ScramExchange:
    """Two messages from the client, two answers."""

    def __init__(
        self,
        mechanism: ScramMechanism,
        credentials: ScramCredentials,
        tokens: DelegationTokens | None = None,
    ) -> None:
        self._mechanism = mechanism
        self._credentials = credentials
        self._tokens = tokens
        self._said: tuple[str, str] | None = None
        self._expires_at: float | None = None

    def take(self, message: bytes) -> Step:
        """Take the client's first message, or its final one."""
        try:
            text = message.decode()
        except UnicodeDecodeError:
            raise self._refused() from None
        return self._first(text) if self._said is None else self._final(text)

    def _first(self, text: str) -> Step:
        match = _FIRST.fullmatch(text)
        user = None if match is None else _decoded(match["user"])
        if match is None or user is None or user == NOBODY or match["identity"] not in (None, user):
            raise self._refused()
        self._header = match["header"]
        self._by_token = _TOKEN in match["more"].lower().split(",")
        known = self._known(user)
        self._is_known = known is not None
        # Made for everybody, so that it takes the same time.
        nobody = self._imitation(user)
        self._credential = known or nobody
        self._nonce = match["nonce"] + secrets.token_urlsafe(24)
        salt = base64.b64encode(self._credential.salt).decode()
        answer = f"r={self._nonce},s={salt},i={self._credential.iterations}"
        self._said = match["bare"], answer
        return Step(answer.encode())

    def _known(self, user: str) -> ScramCredential | None:
        """Return what a user, or the bearer of a token, has to know; note who that would be."""
        self._user = user
        if not self._by_token:
            return self._credentials.get((user, self._mechanism))
        if self._tokens is None:
            return None
        login = self._tokens.login(user, self._mechanism, time_ns() // 1_000_000)
        if login is None:
            return None
        self._user, self._expires_at = login.owner, login.expires_at
        return login.credential

    def _imitation(self, user: str) -> ScramCredential:
        if self._by_token and self._tokens is not None:
            return self._tokens.imitation(user, self._mechanism)
        pattern = self._credentials.get((NOBODY, self._mechanism))
        return imitation(pattern, user, self._mechanism)

    def _final(self, text: str) -> Step:
        assert self._said is not None
        match = _FINAL.fullmatch(text)
        if match is None:
            raise self._refused()
        binding = base64.b64encode(self._header.encode()).decode()
        if match["binding"] != binding or match["nonce"] != self._nonce:
            raise self._refused()
        signed = ",".join((*self._said, match["signed"])).encode()
        name, credential = self._mechanism.hash_name, self._credential
        signature = hmac.digest(credential.stored_key, signed, name)
        try:
            proof = base64.b64decode(match["proof"], validate=True)
        except binascii.Error:
            raise self._refused() from None
        if len(proof) != len(signature):
            raise self._refused()
        key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        is_right = hmac.compare_digest(hashlib.new(name, key).digest(), credential.stored_key)
        # Whose password has been deleted meanwhile must not come in with it.
        is_kept = self._by_token or self._known(self._user) == credential
        if not is_right or not self._is_known or not is_kept:
            raise self._refused()
        verifier = base64.b64encode(hmac.digest(credential.server_key, signed, name))
        return Step(b"v=" + verifier, self._user, self._expires_at, by_token=self._by_token)

    def _refused(self) -> LoginRefused:
        return LoginRefused(
            "Authentication failed during authentication due to invalid credentials with SASL"
            f" mechanism {self._mechanism.sasl_name}"
        )


def _decoded(name: str) -> str | None:
    """Undo how SCRAM writes a name: `=2C` is a comma, `=3D` an equals sign, and no others."""
    if re.fullmatch(r"(?:[^=]|=2C|=3D)*", name) is None:
        return None
    return name.replace("=2C", ",").replace("=3D", "=")
