"""What the broker keeps of a password for SCRAM: enough to check it, too little to know it."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from enum import IntEnum
from struct import Struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

MIN_ITERATIONS = 4096
MAX_ITERATIONS = 16_384
NOBODY = ""
"""No user can have this name. What is stored under it is the pattern for users that do not exist:
their salts must look like others', and stay the same, or they would tell."""

_SECRET_BYTES = 32
_SHAPE = Struct(">II")
"""The length of a salt, and the iterations that go with it."""


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


def pattern_with(
    pattern: ScramCredential | None, known: Iterable[ScramCredential]
) -> ScramCredential | None:
    """Return what is stored under NOBODY: a secret, and all shapes that salts of users have.

    The first shape is where a credential has its salt and iterations, the others follow.
    """
    shapes = _shapes(pattern)
    found = dict.fromkeys((len(each.salt), each.iterations) for each in known)
    new = [shape for shape in found if shape not in shapes]
    if not new:
        return pattern
    secret = secrets.token_bytes(_SECRET_BYTES) if pattern is None else pattern.salt
    (salt_bytes, iterations), *others = (*shapes, *new)
    written = b"".join(_SHAPE.pack(*shape) for shape in others)
    return ScramCredential(secret, iterations, bytes(salt_bytes), written)


def new_patterns(credentials: ScramCredentials) -> dict[ScramMechanism, ScramCredential]:
    """Return what has to be stored under NOBODY so that nobody's salt stands out."""
    found: dict[ScramMechanism, ScramCredential] = {}
    for mechanism in ScramMechanism:
        before = credentials.get((NOBODY, mechanism))
        known = [
            credential
            for (user, its), credential in credentials.items()
            if its is mechanism and user != NOBODY
        ]
        pattern = pattern_with(before, known)
        if pattern is not None and pattern != before:
            found[mechanism] = pattern
    return found


def imitation(
    pattern: ScramCredential | None, user: str, mechanism: ScramMechanism
) -> ScramCredential:
    """Return what a user who does not exist could have; the same each time, and of no use."""
    if pattern is None:
        # There are no users, and so nothing to hide.
        pattern = ScramCredential(b"", MIN_ITERATIONS, bytes(_SECRET_BYTES), b"")
    name, secret = user.encode(), pattern.salt
    # By the highest of their hashes, so that a new shape changes few of the answers.
    salt_bytes, iterations = max(
        _shapes(pattern),
        key=lambda shape: hmac.digest(secret, _SHAPE.pack(*shape) + name, "sha256"),
    )
    salt = hashlib.shake_256(secret + name).digest(salt_bytes)
    nothing = bytes(hashlib.new(mechanism.hash_name).digest_size)
    return ScramCredential(salt, iterations, nothing, nothing)


def _shapes(pattern: ScramCredential | None) -> list[tuple[int, int]]:
    """Return how long salts are, with how many iterations."""
    if pattern is None:
        return []
    first = (len(pattern.stored_key), pattern.iterations)
    return [first, *_SHAPE.iter_unpack(pattern.server_key)]
