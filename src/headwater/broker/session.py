"""Who is at the other end of a connection: every request carries the session it came in."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.authorizer import ALLOW_ALL

if TYPE_CHECKING:
    from headwater.broker.authorizer import Authorizer

USER = "User"
"""Kafka's only type of principal."""
UNKNOWN_SOFTWARE = "unknown"
"""Kafka's word for the software of a client that did not say."""


class Principal(NamedTuple):
    """Somebody that rights and quotas can be given to; written `User:alice`."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


ANONYMOUS = Principal(USER, "ANONYMOUS")
"""Everybody who has not said who they are."""


class Authentication(NamedTuple):
    """Who somebody has proved to be, and how."""

    principal: Principal = ANONYMOUS
    mechanism: str | None = None
    """The SASL mechanism, `SSL` for a client's certificate, or None where nothing was proved."""
    expires_at: float | None = None
    """The time (`time.time`) at which it has to be proved again."""
    token_owner: Principal | None = None
    """Whose delegation token it was; who comes with a token must not ask for another."""


NOT_AUTHENTICATED = Authentication()


class Session:
    """One client as the broker knows it.

    Who it is does not change: a client that authenticates again gets a new session for what it
    sends from then on, and what is under way goes on in the old one.
    """

    __slots__ = (
        "allows_all", "authentication", "authorizer", "client_host", "client_port",
        "client_software_name", "client_software_version", "listener", "principal",
        "security_protocol",
    )  # fmt: skip

    def __init__(
        self,
        listener: str,
        security_protocol: str,
        client_host: str,
        client_port: int,
        authorizer: Authorizer = ALLOW_ALL,
        authentication: Authentication = NOT_AUTHENTICATED,
    ) -> None:
        self.listener = listener
        self.security_protocol = security_protocol
        self.client_host = client_host
        self.client_port = client_port
        self.authentication = authentication
        self.principal = authentication.principal
        self.authorizer = authorizer
        self.allows_all = authorizer.allows_all(self.principal)
        """Whether nothing that this client does has to be asked about."""
        self.client_software_name = UNKNOWN_SOFTWARE
        self.client_software_version = UNKNOWN_SOFTWARE

    def __str__(self) -> str:
        known = []
        if self.authentication.mechanism is not None:
            known.append(str(self.principal))
        if self.client_software_name != UNKNOWN_SOFTWARE:
            known.append(f"{self.client_software_name} {self.client_software_version}")
        address = f"{self.client_host}:{self.client_port}"
        return f"{address} ({', '.join(known)})" if known else address

    def introduce(self, software_name: str, software_version: str) -> None:
        """Note what the client said of its software in ApiVersions."""
        self.client_software_name = software_name
        self.client_software_version = software_version

    def end_login(self) -> None:
        """Have it proved again before anything else is served, or read."""
        self.authentication = self.authentication._replace(expires_at=0.0)

    def authenticated(self, authentication: Authentication) -> Session:
        """Return the session of the same client after it has proved who it is."""
        session = Session(
            self.listener,
            self.security_protocol,
            self.client_host,
            self.client_port,
            self.authorizer,
            authentication,
        )
        session.introduce(self.client_software_name, self.client_software_version)
        return session
