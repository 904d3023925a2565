"""What a caller shows by HTTP, and the proxy's settings with which it logs in to the cluster."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from headwater.clients.bearer_token import BearerToken, TokenSource

if TYPE_CHECKING:
    from headwater.rest.config import RestConfig

OAUTHBEARER = "OAUTHBEARER"

_PASSWORDS = ("sasl.jaas.config", "sasl.username", "sasl.password")
_REFERENCE = "${"


@dataclass(frozen=True)
class Password:
    """Somebody's name and password."""

    name: str
    password: str = field(repr=False)


def read_credentials(authorization: bytes) -> Password | BearerToken | None:
    """Return what a header of this name holds; None where it makes no sense, or no more."""
    scheme, _, given = authorization.partition(b" ")
    match scheme.lower():
        case b"basic":
            return _password(given.strip())
        case b"bearer":
            token = BearerToken.read(given.strip().decode("latin-1"))
            return None if token is None or token.has_expired else token
        case _:
            return None


def as_caller(config: RestConfig, who: Password | TokenSource) -> RestConfig:
    """Return the proxy's settings with somebody else's credentials instead of its own."""
    tokens = who if isinstance(who, TokenSource) else None
    if isinstance(who, Password):
        login = {"sasl.username": who.name, "sasl.password": who.password}
    else:
        login = {"sasl.mechanism": OAUTHBEARER}

    def others(properties: dict[str, str]) -> dict[str, str]:
        return {
            name: value
            for name, value in properties.items()
            # What else there is about passwords, such as the mechanism, is the caller's as well.
            if name not in _PASSWORDS and (tokens is None or not name.startswith("sasl."))
        }

    return replace(
        config,
        client={**others(config.client), **login},
        producer=others(config.producer),
        consumer=others(config.consumer),
        tokens=tokens,
    )


def _password(encoded: bytes) -> Password | None:
    try:
        name, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    # What stands for a secret of this machine in settings is no password of anybody's.
    if not colon or not name or not password or _REFERENCE in name + password:
        return None
    return Password(name, password)
