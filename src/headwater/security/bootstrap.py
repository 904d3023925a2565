"""The file with which a new broker begins: users of SCRAM, and ACLs."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# What Kafka's tools use unless they are told otherwise is 4096, which is also the least.
_ITERATIONS = 8192
_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}


@dataclass(frozen=True)
class Right:
    """An ACL in the words of Kafka's tools."""

    principal: str
    operation: str
    resourceType: str  # noqa: N815 - as it stands in the file
    name: str
    patternType: str = "LITERAL"  # noqa: N815
    host: str = "*"
    permission: str = "ALLOW"


def bootstrap_text(passwords: Mapping[str, str], rights: Sequence[Right]) -> str:
    """Return the file: each password salted and hashed, as `kafka-storage format` takes it."""
    users = [
        _scram(name, mechanism, password)
        for name, password in passwords.items()
        for mechanism in _HASHES
    ]
    return json.dumps({"scram": users, "acls": [asdict(right) for right in rights]}, indent=1)


def _scram(name: str, mechanism: str, password: str) -> dict[str, str | int]:
    salt = secrets.token_bytes(32)
    salted = hashlib.pbkdf2_hmac(_HASHES[mechanism], password.encode(), salt, _ITERATIONS)
    return {
        "name": name,
        "mechanism": mechanism,
        "salt": salt.hex(),
        "saltedpassword": salted.hex(),
        "iterations": _ITERATIONS,
    }
