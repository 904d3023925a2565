"""What the broker keeps of a password for SCRAM: enough to check it, too little to know it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from enum import IntEnum
from typing import NamedTuple

MIN_ITERATIONS = 4096
MAX_ITERATIONS = 16_384
NOBODY = ""
"""No user can have this name. What is stored under it is the pattern for users that do not exist:
their salts must look like others', and stay the same, or they would tell."""

_SECRET_BYTES = 32


class ScramMechanism(IntEnum):
    """The mechanisms as AlterUserScramCredentials numbers them."""

    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @property
    def sasl_name(self) -> str:
        """The name in settings and in SaslHandshake."""
        return self.name.replace("_", "-")

    @property
    def hash_name(self) -> str:
        """The name that hashlib has for its hash."""
        return self.name.removeprefix("SCRAM_").replace("_", "").lower()


class ScramCredential(NamedTuple):
    """A salt, and two keys made of the password and that salt."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes


ScramUser = tuple[str, ScramMechanism]
ScramCredentials = dict[ScramUser, ScramCredential]
"""What is known of all users."""


def credential_of(
    mechanism: ScramMechanism, salt: bytes, iterations: int, salted_password: bytes
) -> ScramCredential:
    """Make a credential of a password that its client has salted and hashed."""
    name = mechanism.hash_name
    client_key = hmac.digest(salted_password, b"Client Key", name)
    return ScramCredential(
        salt,
        iterations,
        hashlib.new(name, client_key).digest(),
        hmac.digest(salted_password, b"Server Key", name),
    )


def pattern_of(first: ScramCredential) -> ScramCredential:
    """Return what is stored under NOBODY: a secret, and what a salt looks like."""
    secret = secrets.token_bytes(_SECRET_BYTES)
    return ScramCredential(secret, first.iterations, bytes(len(first.salt)), b"")


def imitation(
    pattern: ScramCredential | None, user: str, mechanism: ScramMechanism
) -> ScramCredential:
    """Return what a user who does not exist could have; the same each time, and of no use."""
    if pattern is None:
        # There are no users, and so nothing to hide.
        pattern = ScramCredential(b"", MIN_ITERATIONS, bytes(_SECRET_BYTES), b"")
    salt = hashlib.shake_256(pattern.salt + user.encode()).digest(len(pattern.stored_key))
    nothing = bytes(hashlib.new(mechanism.hash_name).digest_size)
    return ScramCredential(salt, pattern.iterations, nothing, nothing)
