"""PLAIN (RFC 4616): a name and a password, as they are. It wants TLS around it."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from headwater.broker.sasl.mechanism import LoginRefused, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "PLAIN"

_NOBODY = b"no user has this password"


class PlainExchange:
    """Asks for `[identity] NUL name NUL password`."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = passwords

    def take(self, message: bytes) -> Step:
        """Compare the password with that of the settings."""
        try:
            identity, user, password = message.decode().split("\0")
        except ValueError:
            raise LoginRefused("Invalid SASL/PLAIN response: expected 3 tokens") from None
        if not user:
            raise LoginRefused("Authentication failed: username not specified")
        if not password:
            raise LoginRefused("Authentication failed: password not specified")
        expected = self._passwords.get(user)
        # Compared for unknown users as well, so that they take as long.
        is_right = hmac.compare_digest(
            password.encode(), _NOBODY if expected is None else expected.encode()
        )
        if expected is None or not is_right:
            raise LoginRefused("Authentication failed: Invalid username or password")
        if identity not in ("", user):
            raise LoginRefused(
                "Authentication failed: Client requested an authorization id that is different"
                " from username"
            )
        return Step(b"", user)
