"""What a certificate says: whom it is for, under which names, and for how long."""

from __future__ import annotations

from typing import NamedTuple

from headwater.security.subjects import distinguished_name


class CertificateFacts(NamedTuple):
    """What matters of a server's own certificate."""

    subject: str
    names: frozenset[str]
    """The subject's alternative names."""
    valid_from: float
    expires_at: float
    """As `time.time` counts; of the first certificate of the chain to expire."""


def facts_of(chain: str) -> CertificateFacts:
    """Read a chain of certificates, its owner's first, from PEM."""
    from cryptography import x509

    certificates = x509.load_pem_x509_certificates(chain.encode())
    own = certificates[0]
    try:
        extension = own.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        names = frozenset[str]()
    else:
        names = frozenset(str(name.value) for name in extension.value)
    return CertificateFacts(
        distinguished_name(own.subject),
        names,
        max(each.not_valid_before_utc.timestamp() for each in certificates),
        min(each.not_valid_after_utc.timestamp() for each in certificates),
    )


def public_keys(certificates: list[str]) -> frozenset[bytes]:
    """Return the keys of certificates, which stay the same when a certificate is renewed."""
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return frozenset(
        certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        for certificate in x509.load_pem_x509_certificates("\n".join(certificates).encode())
    )
