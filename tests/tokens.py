"""An identity provider of a test's own: keys, as they are published, and the tokens it signs."""

from __future__ import annotations

import base64
import json
import time
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

if TYPE_CHECKING:
    from pathlib import Path


class Provider:
    """Signs with an RSA key (RS256, PS256) or a key on a curve (ES256)."""

    def __init__(self, key_id: str = "one") -> None:
        self.key_id = key_id
        self._rsa = rsa.generate_private_key(65537, 2048)
        self._ec = ec.generate_private_key(ec.SECP256R1())

    def publish(self, path: Path) -> str:
        """Write the public keys to a file and return its address."""
        numbers, point = self._rsa.public_key().public_numbers(), self._ec.public_key()
        xy = point.public_numbers()
        keys = [
            {"kty": "RSA", "kid": self.key_id, "n": _number(numbers.n), "e": _number(numbers.e)},
            {"kty": "EC", "crv": "P-256", "kid": self.key_id, "x": _number(xy.x, 32),
             "y": _number(xy.y, 32)},
            {"kty": "oct", "kid": "unusable", "k": "AA"},
        ]  # fmt: skip
        path.write_text(json.dumps({"keys": keys}))
        return path.as_uri()

    def token(self, algorithm: str = "RS256", **claims: Any) -> str:
        """Return a token for ann that is good for an hour, with these claims changed."""
        now = time.time()
        body = {"sub": "ann", "iat": now, "exp": now + 3600, **claims}
        head = {"alg": algorithm, "kid": self.key_id}
        given = {name: value for name, value in body.items() if value is not None}
        signed = f"{_encode(json.dumps(head).encode())}.{_encode(json.dumps(given).encode())}"
        return f"{signed}.{_encode(self._sign(algorithm, signed.encode()))}"

    def unsecured(self, **claims: Any) -> str:
        """Return a token without a signature, which says so (RFC 7515, A.5)."""
        _, body, _ = self.token(**claims).split(".")
        return f"{_encode(json.dumps({'alg': 'none'}).encode())}.{body}."

    def _sign(self, algorithm: str, signed: bytes) -> bytes:
        digest = hashes.SHA256()
        if algorithm == "ES256":
            pair = decode_dss_signature(self._ec.sign(signed, ec.ECDSA(digest)))
            return b"".join(number.to_bytes(32, "big") for number in pair)
        if algorithm == "PS256":
            pss = padding.PSS(padding.MGF1(digest), digest.digest_size)
            return self._rsa.sign(signed, pss, digest)
        return self._rsa.sign(signed, padding.PKCS1v15(), digest)


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _number(number: int, size: int = 0) -> str:
    return _encode(number.to_bytes(size or (number.bit_length() + 7) // 8, "big"))
