"""Key stores and trust stores: PEM in all its forms, and what keytool has written (keytool/)."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from tests.certificates import Authority

from headwater.broker.tls.jks import JksError, read_jks
from headwater.broker.tls.settings import StoreSettings
from headwater.broker.tls.stores import Identity, read_identity, read_trusted
from headwater.config import ConfigError

KEYTOOL = Path(__file__).parent / "keytool"
AUTHORITY = Authority()
ISSUED = AUTHORITY.issue("CN=broker")


def key_store(path: Path | None = None, password: str | None = None, **more: str) -> StoreSettings:
    return StoreSettings("ssl.keystore.location", str(path) if path else None, password, **more)


def trust_store(path: Path, password: str | None = None) -> StoreSettings:
    return StoreSettings("ssl.truststore.location", str(path), password)


def check_pair(identity: Identity, subject: str = "CN=broker") -> None:
    """The key must be that of the first certificate."""
    password = None if identity.password is None else identity.password.encode()
    key = load_pem_private_key(identity.key.encode(), password)
    first = x509.load_pem_x509_certificates(identity.chain.encode())[0]
    assert key.public_key() == first.public_key()
    assert first.subject.rfc4514_string() == subject


def test_pem_in_a_file_and_in_the_settings_also_on_one_line(tmp_path: Path) -> None:
    check_pair(read_identity(key_store(ISSUED.write(tmp_path / "store.pem"))))
    certificates, key = ISSUED.certificate, ISSUED.key
    check_pair(read_identity(key_store(key=key, certificates=certificates)))
    one_line = (certificates + AUTHORITY.certificate).replace("\n", "")
    identity = read_identity(key_store(key=key.replace("\n", " "), certificates=one_line))
    check_pair(identity)
    assert identity.chain.count("BEGIN CERTIFICATE") == 2


def test_an_encrypted_key_comes_with_its_password() -> None:
    identity = read_identity(
        key_store(
            key=ISSUED.encrypted_key("secret"), certificates=ISSUED.certificate,
            key_password="secret",
        )
    )  # fmt: skip
    assert "ENCRYPTED" in identity.key
    check_pair(identity)


def test_pkcs12_brings_the_chain_in_order(tmp_path: Path) -> None:
    path = tmp_path / "store.p12"
    path.write_bytes(ISSUED.pkcs12("secret", AUTHORITY))
    identity = read_identity(key_store(path, "secret"))
    check_pair(identity)
    chain = x509.load_pem_x509_certificates(identity.chain.encode())
    assert [c.subject.rfc4514_string() for c in chain] == ["CN=broker", "CN=authority"]


def test_keytools_stores_are_read() -> None:
    name = "CN=broker,OU=Test,O=Plant"
    check_pair(read_identity(key_store(KEYTOOL / "key.p12", "store-secret")), name)
    check_pair(
        read_identity(key_store(KEYTOOL / "key.jks", "store-secret", key_password="key-secret")),
        name,
    )
    trusted = [
        read_trusted(trust_store(KEYTOOL / file, "store-secret"))
        for file in ("trust.jks", "trust.p12")
    ]
    assert trusted[0] == trusted[1]
    (certificate,) = x509.load_pem_x509_certificates(trusted[0][0].encode())
    assert certificate.subject.rfc4514_string() == name


def test_what_is_wrong_with_a_store_is_said(tmp_path: Path) -> None:
    garbage, no_key, no_certificate = (tmp_path / name for name in ("garbage", "cert", "key"))
    garbage.write_bytes(b"what is this")
    no_key.write_text(ISSUED.certificate)
    no_certificate.write_text(ISSUED.key)
    for store, reason in (
        (key_store(), "needs a key and a certificate"),
        (key_store(tmp_path / "none"), "No such file"),
        (key_store(garbage), "neither PEM nor JKS"),
        (key_store(no_key), "holds no private key"),
        (key_store(no_certificate), "holds no certificate"),
        (key_store(KEYTOOL / "key.p12", "wrong"), "[Ii]nvalid password"),
        (key_store(KEYTOOL / "key.jks", "wrong"), "password is another one"),
        (key_store(KEYTOOL / "key.jks", "store-secret"), r"ssl\.key\.password"),
        (key_store(KEYTOOL / "key.jks"), r"set ssl\.keystore\.password"),
        (key_store(KEYTOOL / "trust.jks", "store-secret"), "no private key"),
        (key_store(key=ISSUED.key, certificates="none"), "no certificate as PEM"),
        (key_store(key="none", certificates=ISSUED.certificate), "no private key as PEM"),
    ):
        with pytest.raises(ConfigError, match=reason) as error:
            read_identity(store)
        assert "store-secret" not in str(error.value)
    with pytest.raises(ConfigError, match="no certificate that could be trusted"):
        read_trusted(trust_store(no_certificate))


def test_a_damaged_jks_is_refused_wherever_it_ends() -> None:
    data = (KEYTOOL / "key.jks").read_bytes()
    for end in range(4, len(data) - 20, 7):
        with pytest.raises(JksError):
            read_jks(data[:end], None)
