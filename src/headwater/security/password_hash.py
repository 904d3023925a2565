"""Passwords as they stand in files of users: hashed, so that whoever reads one has not got it."""

from __future__ import annotations

import hashlib
import hmac

SCHEME = "pbkdf2-sha256"

_ITERATIONS = 200_000


def hash_password(password: str, salt: bytes) -> str:
    """Return a password as it should stand in a file."""
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    return f"{SCHEME}${_ITERATIONS}${salt.hex()}${digest.hex()}"


def matches(password: str, expected: str) -> bool:
    """Whether a password is what stands in a file, hashed or as it is; takes its time."""
    if not expected.startswith(f"{SCHEME}$"):
        return hmac.compare_digest(password.encode(), expected.encode())
    _, iterations, salt, wanted = expected.split("$")
    try:
        digest = hashlib.pbkdf2_hmac(
            "sha256", password.encode(), bytes.fromhex(salt), int(iterations)
        )
    except ValueError:
        return False
    return hmac.compare_digest(digest.hex(), wanted)
