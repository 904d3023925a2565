"""Certificates for tests: those of an authority of a test's own, and one that signs itself."""

from __future__ import annotations

import datetime
import ipaddress
from typing import TYPE_CHECKING, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID

if TYPE_CHECKING:
    from pathlib import Path

DAY = datetime.timedelta(days=1)


class Certificate(NamedTuple):
    """A certificate and its key, as PEM files."""

    certificate: Path
    key: Path


def certificate_for_loopback(directory: Path) -> Certificate:
    """Make a certificate for 127.0.0.1 that is its own authority."""
    own = Authority("headwater").issued
    files = Certificate(directory / "server.pem", directory / "server.key")
    files.certificate.write_text(own.certificate)
    files.key.write_text(own.key)
    return files


class Issued(NamedTuple):
    """A certificate with its key, as text in PEM."""

    certificate: str
    key: str
    pair: tuple[x509.Certificate, ec.EllipticCurvePrivateKey]

    def write(self, path: Path) -> Path:
        """Write both to one file, as a key store in PEM format has them."""
        path.write_text(self.key + self.certificate)
        return path

    def encrypted_key(self, password: str) -> str:
        return _pem(self.pair[1], password)

    def pkcs12(self, password: str, authority: Authority) -> bytes:
        certificate, key = self.pair
        encryption = serialization.BestAvailableEncryption(password.encode())
        others = [authority.issued.pair[0]]
        return pkcs12.serialize_key_and_certificates(b"key", key, certificate, others, encryption)


class Authority:
    """Signs certificates for 127.0.0.1 and localhost under any name, for any time."""

    def __init__(self, name: str = "authority") -> None:
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(self.name, self.name, key, -DAY, 1000 * DAY)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        builder = builder.add_extension(_alternative_names(()), False)
        made = builder.sign(key, hashes.SHA256())
        self.issued = Issued(_certificate(made), _pem(key), (made, key))

    @property
    def certificate(self) -> str:
        return self.issued.certificate

    def issue(
        self,
        subject: str,
        *,
        starts: datetime.timedelta = -DAY,
        ends: datetime.timedelta = 100 * DAY,
        names: tuple[str, ...] = ("localhost",),
    ) -> Issued:
        """Sign a certificate for a subject such as `CN=ann,O=plant`."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(x509.Name.from_rfc4514_string(subject), self.name, key, starts, ends)
        builder = builder.add_extension(_alternative_names(names), False)
        made = builder.sign(self.issued.pair[1], hashes.SHA256())
        return Issued(_certificate(made), _pem(key), (made, key))


def revoked_by(authority: Authority, *gone: Issued, lasts: datetime.timedelta = DAY) -> str:
    """Return an authority's list of revoked certificates, in PEM."""
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(authority.name)
        .last_update(now - 2 * DAY)
        .next_update(now + lasts)
    )
    for each in gone:
        entry = x509.RevokedCertificateBuilder().serial_number(each.pair[0].serial_number)
        builder = builder.add_revoked_certificate(entry.revocation_date(now - DAY).build())
    signed = builder.sign(authority.issued.pair[1], hashes.SHA256())
    return signed.public_bytes(serialization.Encoding.PEM).decode()


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    starts: datetime.timedelta,
    ends: datetime.timedelta,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + starts)
        .not_valid_after(now + ends)
    )


def _alternative_names(names: tuple[str, ...]) -> x509.SubjectAlternativeName:
    loopback = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    return x509.SubjectAlternativeName([*(x509.DNSName(name) for name in names), loopback])


def _certificate(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _pem(key: ec.EllipticCurvePrivateKey, password: str | None = None) -> str:
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password is not None:
        encryption = serialization.BestAvailableEncryption(password.encode())
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    ).decode()
