"""Key stores and trust stores in every format that Kafka takes: PEM, PKCS #12 and JKS.

The format is seen from the first bytes and not from `ssl.keystore.type`, as Java itself does for
the two binary ones.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.tls import jks
from headwater.config import ConfigError
from headwater.config.errors import HIDDEN

if TYPE_CHECKING:
    from headwater.broker.tls.settings import StoreSettings


class Identity(NamedTuple):
    """A private key and its certificates, as PEM; the key may be encrypted."""

    key: str
    password: str | None
    chain: str


def read_identity(settings: StoreSettings) -> Identity:
    """Return the key and certificates of a key store; raises ConfigError."""
    if settings.key is not None or settings.certificates is not None:
        key = "\n".join(_blocks(settings.key or "", "PRIVATE KEY"))
        chain = "\n".join(_blocks(settings.certificates or "", "CERTIFICATE"))
        if not key:
            raise ConfigError("ssl.keystore.key", HIDDEN, "it holds no private key as PEM")
        if not chain:
            raise ConfigError(
                "ssl.keystore.certificate.chain", HIDDEN, "it holds no certificate as PEM"
            )
        return Identity(key, settings.key_password, chain)
    data = _read(settings)
    if data.startswith(jks.MAGIC):
        return _identity_of_jks(settings, data)
    if b"-----BEGIN" in data:
        text = data.decode(errors="replace")
        key, chain = ("\n".join(_blocks(text, kind)) for kind in ("PRIVATE KEY", "CERTIFICATE"))
        if not key or not chain:
            missing = "certificate" if key else "private key"
            raise _wrong(settings, f"the file holds no {missing}; a PEM key store has both")
        return Identity(key, settings.key_password, chain)
    return _identity_of_pkcs12(settings, data)


def read_trusted(settings: StoreSettings) -> list[str]:
    """Return the certificates of a trust store as PEM, each once; raises ConfigError."""
    if settings.certificates is not None:
        found = _blocks(settings.certificates, "CERTIFICATE")
    else:
        data = _read(settings)
        if data.startswith(jks.MAGIC):
            found = [_pem("CERTIFICATE", der) for der in _jks(settings, data).trusted]
        elif b"-----BEGIN" in data:
            found = _blocks(data.decode(errors="replace"), "CERTIFICATE")
        else:
            found = _trusted_of_pkcs12(settings, data)
    if not found:
        raise _wrong(settings, "it holds no certificate that could be trusted")
    return list(dict.fromkeys(found))


def _read(settings: StoreSettings) -> bytes:
    if settings.location is None:
        raise ConfigError(
            settings.setting, None, "a listener that speaks TLS needs a key and a certificate"
        )
    try:
        return Path(settings.location).expanduser().read_bytes()
    except OSError as error:
        raise _wrong(settings, f"it cannot be read: {error.strerror or error}") from None


def _wrong(settings: StoreSettings, reason: str) -> ConfigError:
    return ConfigError(settings.setting, settings.location, reason)


def _blocks(text: str, kind: str) -> list[str]:
    """Return the PEM blocks of a kind; PRIVATE KEY stands for encrypted and older ones, too.

    Kafka takes PEM that lies on one line, because Java's properties files make that of it.
    """
    found = []
    for label, body in re.findall(
        rf"-----BEGIN ((?:[A-Z0-9]+ )*{kind})-----(.*?)-----END \1-----", text, re.DOTALL
    ):
        headers = re.match(r"\s*((?:[A-Za-z-]+: [^\n]*\n)+)\n", body)
        encoded = "".join(body[headers.end() if headers else 0 :].split())
        lines = [encoded[at : at + 64] for at in range(0, len(encoded), 64)]
        head = [headers[1].strip(), ""] if headers else []
        found.append(
            "\n".join([f"-----BEGIN {label}-----", *head, *lines, f"-----END {label}-----"])
        )
    return found


def _pem(label: str, der: bytes) -> str:
    return _blocks(
        f"-----BEGIN {label}-----{base64.b64encode(der).decode()}-----END {label}-----", label
    )[0]


def _jks(settings: StoreSettings, data: bytes) -> jks.Jks:
    try:
        return jks.read_jks(data, settings.password)
    except jks.JksError as error:
        raise _wrong(settings, str(error)) from None


def _identity_of_jks(settings: StoreSettings, data: bytes) -> Identity:
    store = _jks(settings, data)
    if not store.keys:
        raise _wrong(settings, "it holds no private key")
    entry = store.keys[0]
    password = settings.key_password or settings.password
    if password is None:
        raise _wrong(settings, "it has a password; set ssl.keystore.password")
    try:
        key = jks.reveal_key(entry, password)
    except jks.JksError as error:
        raise _wrong(settings, str(error)) from None
    chain = "\n".join(_pem("CERTIFICATE", der) for der in entry.chain)
    return Identity(_pem("PRIVATE KEY", key), None, chain)


def _identity_of_pkcs12(settings: StoreSettings, data: bytes) -> Identity:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.serialization import pkcs12

    try:
        store = pkcs12.load_pkcs12(data, (settings.password or "").encode() or None)
    except ValueError as error:
        raise _wrong(settings, f"it is neither PEM nor JKS, and as PKCS #12: {error}") from None
    if store.key is None or store.cert is None:
        raise _wrong(settings, "it holds no private key with its certificate")
    certificates = {c.certificate.subject: c.certificate for c in store.additional_certs}
    chain = [store.cert.certificate]
    while (issuer := certificates.pop(chain[-1].issuer, None)) is not None:
        chain.append(issuer)
    key = store.key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    pem = b"".join(c.public_bytes(serialization.Encoding.PEM) for c in chain)
    return Identity(key.decode(), None, pem.decode())


def _trusted_of_pkcs12(settings: StoreSettings, data: bytes) -> list[str]:
    from cryptography.hazmat.primitives.serialization import Encoding, pkcs12

    try:
        store = pkcs12.load_pkcs12(data, (settings.password or "").encode() or None)
    except ValueError as error:
        raise _wrong(settings, f"it is neither PEM nor JKS, and as PKCS #12: {error}") from None
    return [
        _pem("CERTIFICATE", each.certificate.public_bytes(Encoding.DER))
        for each in store.additional_certs
    ]
