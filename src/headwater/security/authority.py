"""An authority of one's own: it signs the certificates of brokers, services and users."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from collections.abc import Sequence

AUTHORITY_DAYS = 3650
_CLOCK_SKEW = datetime.timedelta(hours=1)


@dataclass(frozen=True)
class Issued:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def certificate_pem(self) -> str:
        """The certificate as text."""
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    @property
    def key_pem(self) -> str:
        """The key as text, without a password."""
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()

    def pkcs12(self, name: str, password: str, authority: Authority) -> bytes:
        """Return both as a store that browsers and Java open with a password."""
        return pkcs12.serialize_key_and_certificates(
            name.encode(),
            self.key,
            self.certificate,
            [authority.own.certificate],
            serialization.BestAvailableEncryption(password.encode()),
        )


class Authority:
    """Signs certificates; whoever trusts it trusts them all."""

    def __init__(self, own: Issued) -> None:
        self.own = own

    @classmethod
    def create(cls, name: str) -> Authority:
        """Make a new one, with a key that nobody else has."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = _named(name)
        made = _builder(subject, subject, key, AUTHORITY_DAYS)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        made = made.add_extension(_usage(signs=True), critical=True)
        return cls(Issued(made.sign(key, hashes.SHA256()), key))

    @classmethod
    def load(cls, certificate_pem: str, key_pem: str) -> Authority:
        """Take one that was made before."""
        key = serialization.load_pem_private_key(key_pem.encode(), None)
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ValueError("the authority's key is not one on an elliptic curve")
        return cls(Issued(x509.load_pem_x509_certificate(certificate_pem.encode()), key))

    def issue(self, name: str, days: int, hosts: Sequence[str] = ()) -> Issued:
        """Sign a certificate for `CN=name`: of a server, if it has hosts, else of a client."""
        key = ec.generate_private_key(ec.SECP256R1())
        own = self.own.certificate
        made = _builder(_named(name), own.subject, key, days)
        made = made.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        made = made.add_extension(_usage(signs=False), critical=True)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.own.key.public_key())
        made = made.add_extension(issuer, critical=False)
        purposes = [ExtendedKeyUsageOID.CLIENT_AUTH]
        if hosts:
            purposes.insert(0, ExtendedKeyUsageOID.SERVER_AUTH)
            made = made.add_extension(
                x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False
            )
        made = made.add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        return Issued(made.sign(self.own.key, hashes.SHA256()), key)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _CLOCK_SKEW)
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
