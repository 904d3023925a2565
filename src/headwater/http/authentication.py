"""Finding out who is asking, without ever keeping the event loop from its work."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from headwater.http.principals import ANONYMOUS, Principal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.http.asgi import Scope

# Where the server puts the subject of a client's certificate: in the state of a scope.
CERTIFICATE = "headwater.certificate"


class Credentials(NamedTuple):
    """What a client showed."""

    authorization: bytes | None = None
    certificate: str | None = None  # the subject of its certificate, which TLS has verified

    @classmethod
    def of(cls, scope: Scope, headers: Mapping[bytes, bytes]) -> Credentials:
        """Return what came with a request."""
        return cls(headers.get(b"authorization"), scope.get("state", {}).get(CERTIFICATE))


class Authenticator(Protocol):
    """Knows principals by their credentials."""

    challenge: str  # what a stranger's client is told in WWW-Authenticate

    def known(self, credentials: Credentials) -> Principal | None:
        """Return who it is if that needs no work; called for each request."""

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        """Return who it is; None for strangers."""


class Anybody:
    """Lets everybody in: by the name in a certificate where there is one."""

    challenge = ""

    def known(self, credentials: Credentials) -> Principal | None:
        """Return the certificate's subject, or ANONYMOUS."""
        if credentials.certificate is None:
            return ANONYMOUS
        return Principal(credentials.certificate, method="SSL")

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        """Return the same."""
        return self.known(credentials)
