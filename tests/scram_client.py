"""The client's side of SCRAM, written out, also with a delegation token, which few libraries do."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.broker.sasl.scram_credentials import ScramMechanism


def salted(mechanism: ScramMechanism, password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(mechanism.hash_name, password.encode(), salt, iterations)


class ScramClient:
    """What a client says, given what the server said."""

    def __init__(
        self, mechanism: ScramMechanism, user: str, password: str, extensions: str = ""
    ) -> None:
        self._mechanism = mechanism
        self._password = password
        name = user.replace("=", "=3D").replace(",", "=2C")
        self._bare = f"n={name},r=nonce{extensions}"
        self.first = f"n,,{self._bare}".encode()

    def final(self, answer: bytes) -> bytes:
        fields = dict(part.split("=", 1) for part in answer.decode().split(","))
        salt, iterations = base64.b64decode(fields["s"]), int(fields["i"])
        hashed = salted(self._mechanism, self._password, salt, iterations)
        without_proof = f"c=biws,r={fields['r']}"
        signed = f"{self._bare},{answer.decode()},{without_proof}".encode()
        name = self._mechanism.hash_name
        key = hmac.digest(hashed, b"Client Key", name)
        signature = hmac.digest(hashlib.new(name, key).digest(), signed, name)
        proof = base64.b64encode(bytes(a ^ b for a, b in zip(key, signature, strict=True)))
        self.expected = b"v=" + base64.b64encode(
            hmac.digest(hmac.digest(hashed, b"Server Key", name), signed, name)
        )
        return f"{without_proof},p={proof.decode()}".encode()


def log_in(client: Any, mechanism: ScramMechanism, scram: ScramClient) -> Any:
    """Log in over a raw connection; the last answer, or the first that is an error."""
    shaken = client.call("sasl_handshake", 1, mechanism=mechanism.sasl_name)
    assert not shaken.error_code
    first = client.call("sasl_authenticate", 2, auth_bytes=scram.first)
    if first.error_code:
        return first
    return client.call("sasl_authenticate", 2, auth_bytes=scram.final(first.auth_bytes))
