"""TLS of a client, by the PEM files that a connector's properties name."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError

if TYPE_CHECKING:
    from headwater.config import Values


def not_trusted(
    url: str, failure: ssl.SSLCertVerificationError, authorities: str
) -> ConnectorError:
    """Return what to say of a service with another certificate than the properties trust."""
    return ConnectorError(
        f"{url} shows a certificate that is not trusted: {failure.verify_message}; {authorities} "
        "names a PEM file with the authorities to trust"
    )


def tls_context(
    config: Values, authorities: str, own: str | None = None, password: str | None = None
) -> ssl.SSLContext:
    """Return what these properties say: whom to trust, the client's own key, and its password.

    Without a file of authorities, the system's are trusted. Raises ConnectorError.
    """
    names = [name for name in (authorities, own) if name and config.text(name)]
    try:
        context = ssl.create_default_context(cafile=config.text(authorities) or None)
        if own and (key := config.text(own)):
            context.load_cert_chain(key, password=config.text(password) if password else None)
    except (OSError, ssl.SSLError) as failure:
        files = " and ".join(f"{name} ({config.text(name)})" for name in names)
        raise ConnectorError(
            f"{files} {'have to be PEM files' if len(names) > 1 else 'has to be a PEM file'}: "
            f"{failure}"
        ) from failure
    return context
