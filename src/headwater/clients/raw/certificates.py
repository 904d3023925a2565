"""The certificate that a server shows: looked at, whoever signed it, and not trusted."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.raw.cluster_reader import bootstrap_nodes

if TYPE_CHECKING:
    from datetime import datetime

_ANSWER_WITHIN_S = 5.0


class ServerCertificate(NamedTuple):
    """Whom it is for, who says so, and until when."""

    subject: str
    issuer: str
    not_after: datetime


def server_certificate(address: str, within_s: float = _ANSWER_WITHIN_S) -> ServerCertificate:
    """Return the certificate of the server at HOST:PORT.

    Raises OSError, and ValueError if what was shown is no certificate.
    """
    from cryptography import x509

    (node,) = bootstrap_nodes(address)
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with (
        socket.create_connection((node.host, node.port), within_s) as plain,
        context.wrap_socket(plain, server_hostname=node.host) as peer,
    ):
        shown = peer.getpeercert(binary_form=True)
    if shown is None:
        raise ValueError("it showed none")
    found = x509.load_der_x509_certificate(shown)
    return ServerCertificate(
        found.subject.rfc4514_string(), found.issuer.rfc4514_string(), found.not_valid_after_utc
    )
