"""Reads Java's own key stores (JKS), as keytool wrote them by default until Java 9.

The format has no specification but Java's source. A store is a list of entries under one password,
which a digest at the end proves; a private key is hidden by a key stream of SHA-1 digests.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

MAGIC = b"\xfe\xed\xfe\xed"

_DIGEST = 20
_SALT_OF_STORES = b"Mighty Aphrodite"
_PRIVATE_KEY, _TRUSTED_CERTIFICATE = 1, 2


class JksError(ValueError):
    """A store cannot be read; the message says why."""


class KeyEntry(NamedTuple):
    """A private key, still hidden, and the certificates that belong to it (DER, its own first)."""

    alias: str
    hidden_key: bytes
    chain: list[bytes]


class Jks(NamedTuple):
    """What is in a store."""

    keys: list[KeyEntry]
    trusted: list[bytes]


def read_jks(data: bytes, password: str | None) -> Jks:
    """Read a store; without a password it is not checked whether somebody has changed it."""
    if password is not None:
        secret = password.encode("utf-16-be")
        digest = hashlib.sha1(secret + _SALT_OF_STORES + data[:-_DIGEST]).digest()
        if not hmac.compare_digest(digest, data[-_DIGEST:]):
            raise JksError("its password is another one, or it was damaged")
    try:
        return _entries(_Reader(data[: -_DIGEST or None]))
    except (IndexError, UnicodeDecodeError):
        raise JksError("it ends in the middle of an entry") from None


def reveal_key(entry: KeyEntry, password: str) -> bytes:
    """Return a private key as PKCS #8 in DER."""
    hidden = _octets_of(entry.hidden_key)
    salt, body, digest = hidden[:_DIGEST], hidden[_DIGEST:-_DIGEST], hidden[-_DIGEST:]
    secret = password.encode("utf-16-be")
    stream = bytearray()
    block = salt
    while len(stream) < len(body):
        block = hashlib.sha1(secret + block).digest()
        stream += block
    key = bytes(a ^ b for a, b in zip(body, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(secret + key).digest(), digest):
        raise JksError(f"the password of its key {entry.alias} is another one (ssl.key.password)")
    return key


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        end = self._at + size
        if size < 0 or end > len(self._data):
            raise IndexError
        taken, self._at = self._data[self._at : end], end
        return taken

    def number(self, size: int = 4) -> int:
        return int.from_bytes(self.take(size), "big")

    def text(self) -> str:
        return self.take(self.number(2)).decode()

    def certificate(self, version: int) -> bytes:
        if version == 2:
            self.text()  # always X.509
        return self.take(self.number())


def _entries(reader: _Reader) -> Jks:
    reader.take(len(MAGIC))
    version = reader.number()
    if version not in (1, 2):
        raise JksError(f"it has version {version} of its format, and there are 1 and 2")
    keys: list[KeyEntry] = []
    trusted: list[bytes] = []
    for _ in range(reader.number()):
        kind, alias = reader.number(), reader.text()
        reader.take(8)  # when it was made
        if kind == _PRIVATE_KEY:
            hidden = reader.take(reader.number())
            chain = [reader.certificate(version) for _ in range(reader.number())]
            keys.append(KeyEntry(alias, hidden, chain))
        elif kind == _TRUSTED_CERTIFICATE:
            trusted.append(reader.certificate(version))
        else:
            raise JksError(f"its entry {alias} is neither a key nor a certificate")
    return Jks(keys, trusted)


def _octets_of(encrypted_key_info: bytes) -> bytes:
    """Return the second element of a DER sequence, which is what was encrypted."""
    try:
        _, inner = _element(encrypted_key_info, 0)
        algorithm_end, _ = _element(inner, 0)
        _, octets = _element(inner, algorithm_end)
    except IndexError:
        raise JksError("one of its keys is damaged") from None
    return octets


def _element(der: bytes, start: int) -> tuple[int, bytes]:
    """Return where an element ends, and its content."""
    size, at = der[start + 1], start + 2
    if size & 0x80:
        count = size & 0x7F
        size, at = int.from_bytes(der[at : at + count], "big"), at + count
    if at + size > len(der):
        raise IndexError
    return at + size, der[at : at + size]
