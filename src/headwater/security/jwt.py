"""Tokens of OAuth (RFC 7519): who has signed them, for whom, and until when."""

from __future__ import annotations

import binascii
import json
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from headwater.security.jwks import decode

if TYPE_CHECKING:
    from headwater.security.jwks import KeySource, PublicKey

_HASHES: dict[str, type[hashes.HashAlgorithm]] = {
    "256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512,
}  # fmt: skip
_EC_BITS = {"256": 256, "384": 384, "512": 521}


class TokenRefused(Exception):  # noqa: N818 - it says what became of it
    """A token proves nothing; the message says why."""


class Expectations(NamedTuple):
    """What a token must say."""

    issuer: str | None = None
    audience: tuple[str, ...] = ()
    skew_s: int = 30
    subject_claim: str = "sub"
    scope_claim: str = "scope"


class Token(NamedTuple):
    """What a good token says."""

    subject: str
    expires_at: float


def check_token(text: str, keys: KeySource, expected: Expectations, now: float) -> Token:
    """Check signature and claims; raises TokenRefused."""
    try:
        head, body, signature = text.split(".")
        header, claims = json.loads(decode(head)), json.loads(decode(body))
        proof = decode(signature)
    except (ValueError, binascii.Error, RecursionError):
        raise TokenRefused("it is no signed token") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise TokenRefused("it is no signed token")
    _check_signature(header, f"{head}.{body}".encode(), proof, keys)
    return _check_claims(claims, expected, now)


def _check_signature(header: dict[str, Any], signed: bytes, proof: bytes, keys: KeySource) -> None:
    algorithm = str(header.get("alg"))
    if algorithm[:2] not in ("RS", "PS", "ES") or algorithm[2:] not in _HASHES:
        raise TokenRefused(f"its algorithm {algorithm[:20]!r} is not taken")
    if header.get("crit"):
        raise TokenRefused("it depends on extensions that are not known")
    key_id = header.get("kid")
    for key in keys.keys_for(key_id if isinstance(key_id, str) else None):
        try:
            if _verify(key.public, algorithm, proof, signed):
                return
        except InvalidSignature:
            continue
    raise TokenRefused("none of the known keys has signed it")


def _verify(key: PublicKey, algorithm: str, proof: bytes, signed: bytes) -> bool:
    """Whether a key of the right kind has signed; InvalidSignature if another one has."""
    family, size = algorithm[:2], algorithm[2:]
    digest = _HASHES[size]()
    if isinstance(key, rsa.RSAPublicKey):
        if family == "ES":
            return False
        pads: padding.AsymmetricPadding = padding.PKCS1v15()
        if family == "PS":
            pads = padding.PSS(padding.MGF1(digest), digest.digest_size)
        key.verify(proof, signed, pads, digest)
        return True
    half = (_EC_BITS[size] + 7) // 8
    if family != "ES" or key.curve.key_size != _EC_BITS[size] or len(proof) != 2 * half:
        return False
    pair = (int.from_bytes(proof[:half], "big"), int.from_bytes(proof[half:], "big"))
    key.verify(encode_dss_signature(*pair), signed, ec.ECDSA(digest))
    return True


def _check_claims(claims: dict[str, Any], expected: Expectations, now: float) -> Token:
    expires_at, issued_at = _time(claims, "exp", None), _time(claims, "iat", None)
    starts_at = max(_time(claims, "nbf", issued_at), issued_at)
    if now > expires_at + expected.skew_s:
        raise TokenRefused("it has expired")
    if expires_at < starts_at:
        raise TokenRefused("it ends before it begins")
    if now < starts_at - expected.skew_s:
        raise TokenRefused("it is not good yet")
    if expected.issuer is not None and claims.get("iss") != expected.issuer:
        raise TokenRefused("another issuer has made it (oauthbearer.expected.issuer)")
    _check_audience(claims.get("aud"), expected.audience)
    scope = claims.get(expected.scope_claim, "")
    if not isinstance(scope, str | list):
        raise TokenRefused(f"its {expected.scope_claim} is neither text nor a list")
    subject = claims.get(expected.subject_claim)
    if not isinstance(subject, str) or not subject.strip():
        raise TokenRefused(f"it does not say who it is for ({expected.subject_claim})")
    return Token(subject.strip(), expires_at)


def _check_audience(claimed: Any, expected: tuple[str, ...]) -> None:
    """As Kafka does: also where no audience is expected, a token for one is for somebody else."""
    if claimed is None and not expected:
        return
    audiences = claimed if isinstance(claimed, list) else [claimed]
    if not all(isinstance(each, str) for each in audiences):
        raise TokenRefused("it does not say in words who is to take it (aud)")
    if not set(audiences) & set(expected):
        raise TokenRefused("it is for somebody else (oauthbearer.expected.audience)")


def _time(claims: dict[str, Any], name: str, default: float | None) -> float:
    value = claims.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TokenRefused(f"its {name} is no time")
    if not isfinite(value) or value < 0:
        raise TokenRefused(f"its {name} is no time")
    return float(value)
