"""HTTP basic authentication: names and passwords from a file."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import secrets
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from headwater.http.errors import HttpError, StartError
from headwater.http.principals import Principal
from headwater.security.password_hash import SCHEME, matches

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.http.authentication import Credentials

MAX_REMEMBERED = 1_000
MAX_WAITING = 100
THREADS = 2


class UsersError(StartError):
    """A file of users cannot be used; the message says which line, and why."""


class BasicAuth:
    """Knows principals by name and password.

    A hash is made to take its time. So it is computed in a thread, by no more than two at once,
    for no more than a hundred that wait; and what was right once is remembered, as a digest under
    a key of this process.
    """

    def __init__(self, users: dict[str, str], realm: str = "headwater") -> None:
        self.challenge = f'Basic realm="{realm}"'
        self._users = users
        self._remembered: dict[bytes, Principal] = {}
        self._waiting: dict[bytes, asyncio.Task[Principal | None]] = {}
        self._threads = ThreadPoolExecutor(THREADS, "passwords")
        self._key = secrets.token_bytes(32)

    @classmethod
    def from_file(cls, path: Path, realm: str = "headwater") -> BasicAuth:
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
            if password.startswith(f"{SCHEME}$") and len(password.split("$")) != 4:
                raise UsersError(
                    f"{path}, line {number}: it is not of the form "
                    f"NAME: {SCHEME}$ITERATIONS$SALT$HASH"
                )
            users[name.strip()] = password
        if not users:
            raise UsersError(f"{path}: there is nobody in it")
        return cls(users, realm)

    def has_user(self, name: str) -> bool:
        """Whether there is somebody of this name."""
        return name in self._users

    def known(self, credentials: Credentials) -> Principal | None:
        """Return who it is if the same password was right before."""
        header = credentials.authorization
        return None if header is None else self._remembered.get(self._digest(header))

    async def authenticate(self, credentials: Credentials) -> Principal | None:
        """Return who it is; None for strangers. Raises HttpError 503 if too many ask at once."""
        header = credentials.authorization
        given = None if header is None else _parse(header)
        if header is None or given is None:
            return None
        digest = self._digest(header)
        known = self._remembered.get(digest)
        if known is not None:
            return known
        # Several requests of one client wait for one hash.
        checking = self._waiting.get(digest)
        if checking is None:
            if len(self._waiting) >= MAX_WAITING:
                raise HttpError(
                    503, 503, "Too many passwords wait to be checked; try again",
                    ((b"retry-after", b"1"),),
                )  # fmt: skip
            checking = asyncio.create_task(self._check(digest, *given))
            self._waiting[digest] = checking
        return await asyncio.shield(checking)

    async def _check(self, digest: bytes, name: str, password: str) -> Principal | None:
        # Somebody who does not exist takes as long as somebody who does.
        expected = self._users.get(name, next(iter(self._users.values())))
        loop = asyncio.get_running_loop()
        try:
            is_right = await loop.run_in_executor(self._threads, matches, password, expected)
            if not is_right or name not in self._users:
                return None
            while len(self._remembered) >= MAX_REMEMBERED:
                del self._remembered[next(iter(self._remembered))]
            principal = self._remembered[digest] = Principal(name, method="BASIC")
            return principal
        finally:
            del self._waiting[digest]

    def _digest(self, header: bytes) -> bytes:
        return hashlib.blake2b(header, digest_size=32, key=self._key).digest()


def _parse(authorization: bytes) -> tuple[str, str] | None:
    scheme, _, encoded = authorization.partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        name, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return name, password
