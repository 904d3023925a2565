"""A certificate instead of a password, for who has one: of the user whose name it has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.http.principals import Principal

if TYPE_CHECKING:
    from headwater.http.authentication import Credentials
    from headwater.http.basic_auth import BasicAuth

_COMMON_NAME = re.compile(r"(?:^|,)CN=([^,+\\]+)(?=,|$)")


class CertificateOrPassword:
    """Knows users by a certificate with their name as its CN, and all others by their password.

    Only for certificates of an authority that signs no such name for anybody else.
    """

    def __init__(self, passwords: BasicAuth) -> None:
        self.challenge = passwords.challenge
        self._passwords = passwords

    def known(self, credentials: Credentials) -> Principal | None:
        """Return who it is by the certificate, or by a password that was right before."""
        return self._by_certificate(credentials) or self._passwords.known(credentials)

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        """Return who it is; None for strangers."""
        by_certificate = self._by_certificate(credentials)
        return by_certificate or await self._passwords.authenticate(credentials)

    def _by_certificate(self, credentials: Credentials) -> Principal | None:
        found = _COMMON_NAME.search(credentials.certificate or "")
        if found is None or not self._passwords.has_user(found[1]):
            return None
        return Principal(found[1], method="SSL")
