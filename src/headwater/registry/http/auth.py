"""HTTP basic authentication: names and passwords from a file."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

REALM = "headwater schema registry"

_SCHEME = "pbkdf2-sha256"
_ITERATIONS = 200_000


class UsersError(ValueError):
    """A file of users cannot be used; the message says which line, and why."""


class BasicAuth:
    """Knows who may come in."""

    def __init__(self, users: dict[str, str]) -> None:
        self._users = users
        # Checking a hash takes its time; what was right once stays right.
        self._known: dict[bytes, str] = {}

    @classmethod
    def from_file(cls, path: Path) -> BasicAuth:
        """Read a file with lines of `name: password`, or `name: pbkdf2-sha256$...`."""
        users: dict[str, str] = {}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            name, colon, password = line.partition(":")
            password = password.strip()
            if not colon or not name.strip() or not password:
                raise UsersError(f"{path}, line {number}: it is not of the form NAME: PASSWORD")
            if password.startswith(f"{_SCHEME}$") and len(password.split("$")) != 4:
                raise UsersError(
                    f"{path}, line {number}: it is not of the form "
                    f"NAME: {_SCHEME}$ITERATIONS$SALT$HASH"
                )
            users[name.strip()] = password
        if not users:
            raise UsersError(f"{path}: there is nobody in it")
        return cls(users)

    def user(self, authorization: bytes | None) -> str | None:
        """Return who sent a header; None if nobody can tell."""
        if authorization is None:
            return None
        if authorization in self._known:
            return self._known[authorization]
        scheme, _, encoded = authorization.partition(b" ")
        if scheme.lower() != b"basic":
            return None
        try:
            name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        # Somebody who does not exist takes as long as somebody who does.
        expected = self._users.get(name, next(iter(self._users.values())))
        if not _matches(password, expected) or name not in self._users:
            return None
        self._known[authorization] = name
        return name


def hash_password(password: str, salt: bytes) -> str:
    """Return a password as it should stand in a file."""
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    return f"{_SCHEME}${_ITERATIONS}${salt.hex()}${digest.hex()}"


def _matches(password: str, expected: str) -> bool:
    if not expected.startswith(f"{_SCHEME}$"):
        return hmac.compare_digest(password.encode(), expected.encode())
    _, iterations, salt, wanted = expected.split("$")
    try:
        digest = hashlib.pbkdf2_hmac(
            "sha256", password.encode(), bytes.fromhex(salt), int(iterations)
        )
    except ValueError:
        return False
    return hmac.compare_digest(digest.hex(), wanted)
