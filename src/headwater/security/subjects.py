"""Whom a certificate is for, in the words that Kafka has for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cryptography import x509


def subject_of(der: bytes) -> str:
    """Return whom a certificate is for, as Kafka writes it: `CN=ann,O=plant`."""
    from cryptography import x509

    return distinguished_name(x509.load_der_x509_certificate(der).subject)


def distinguished_name(name: x509.Name) -> str:
    """Write a name as Java does, in the form of RFC 2253: the last part comes first."""
    return ",".join(
        "+".join(_attribute(attribute) for attribute in part) for part in reversed(name.rdns)
    )


_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
_SPECIAL = frozenset(',=+<>#;"\\')


def _attribute(attribute: x509.NameAttribute[str | bytes]) -> str:
    oid = attribute.oid.dotted_string
    keyword = _KEYWORDS.get(oid)
    value = attribute.value
    if keyword is None or isinstance(value, bytes):
        # Java knows no name for it, and RFC 2253 has such values as their encoding, in digits.
        return f"{keyword or oid}=#{_der(attribute).hex()}"
    escaped = "".join(
        "\\00" if char == "\0" else f"\\{char}" if char in _SPECIAL else char for char in value
    )
    body = escaped.lstrip(" ")
    body, tail = body.rstrip(" "), len(body) - len(body.rstrip(" "))
    lead = len(escaped) - len(escaped.lstrip(" "))
    return f"{keyword}=" + "\\ " * lead + body + "\\ " * tail


def _der(attribute: x509.NameAttribute[str | bytes]) -> bytes:
    value, tag = attribute.value, _tag(attribute)
    data = value if isinstance(value, bytes) else value.encode(_ENCODINGS.get(tag, "utf-8"))
    size = len(data)
    length = bytes([size]) if size < 0x80 else _long_length(size)
    return bytes([tag]) + length + data


_ENCODINGS = {0x1E: "utf-16-be", 0x1C: "utf-32-be", 0x14: "latin-1"}


def _tag(attribute: x509.NameAttribute[str | bytes]) -> int:
    return int(attribute._type.value)  # noqa: SLF001 - nothing else tells how it is encoded


def _long_length(size: int) -> bytes:
    digits = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([0x80 | len(digits)]) + digits
