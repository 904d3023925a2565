"""A login in the audit log: who came in from where, by which mechanism, or why not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from headwater.broker.session import Principal, Session


class LoginEvent(NamedTuple):
    """Somebody has proved who it is, or could not."""

    principal: Principal
    """Of a login that failed, who it was before; whoever it claimed to be is not known."""
    host: str
    listener: str
    mechanism: str | None
    """None where it did not come to one that is enabled."""
    cause: str | None
    """Why it was refused; None for one that succeeded."""

    @classmethod
    def of(cls, session: Session, mechanism: str | None, cause: str | None) -> LoginEvent:
        """Return the login of a client."""
        return cls(session.principal, session.client_host, session.listener, mechanism, cause)

    def without_details(self) -> LoginEvent:
        """Return what many failures are counted as: they may be as many as an attacker likes."""
        return self._replace(host="*", cause="one of too many failures to tell each")

    def fields(self) -> dict[str, Any]:
        """Return what is written, with the names that other events have."""
        return {
            "principal": str(self.principal),
            "host": self.host,
            "listener": self.listener,
            "clientId": None,
            "api": "SASL_AUTHENTICATE",
            "operation": "LOGIN",
            "resourceType": None,
            "resource": None,
            "allowed": self.cause is None,
            "mechanism": self.mechanism,
            "cause": self.cause,
        }
