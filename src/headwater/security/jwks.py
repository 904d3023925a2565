"""The keys of an identity provider (RFC 7517), read from a file or an address, and read again."""

from __future__ import annotations

import base64
import binascii
import json
import logging
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from cryptography.hazmat.primitives.asymmetric import ec, rsa

if TYPE_CHECKING:
    from collections.abc import Sequence

logger = logging.getLogger("headwater.security")

_WITHIN_S = 10.0
_MOST_BYTES = 1 << 20
_SOONEST_AGAIN_S = 10.0
"""A token with an unknown key makes us look for new keys, but not more often than this."""
_CURVES: dict[str, type[ec.EllipticCurve]] = {
    "P-256": ec.SECP256R1, "P-384": ec.SECP384R1, "P-521": ec.SECP521R1,
}  # fmt: skip

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey


class JwksError(ValueError):
    """Keys cannot be had; the message says why."""


class Jwk(NamedTuple):
    """A key that tokens may be signed with."""

    id: str | None
    public: PublicKey


class KeySource:
    """Where keys come from: a `file:` or `https:` address. Reading never makes a login wait."""

    def __init__(self, address: str, refresh_s: float) -> None:
        self._address = address
        self._refresh_s = refresh_s
        self._keys = read_keys(address)
        self._read_at = monotonic()
        self._is_reading = threading.Lock()

    def keys_for(self, key_id: str | None) -> Sequence[Jwk]:
        """Return the keys that may have signed: those of this id, or all if a token names none."""
        found = [key for key in self._keys if key_id is None or key.id == key_id]
        age_s = monotonic() - self._read_at
        if age_s > self._refresh_s or (not found and age_s > _SOONEST_AGAIN_S):
            self._read_again()
        return found

    def _read_again(self) -> None:
        if self._is_reading.acquire(blocking=False):
            self._read_at = monotonic()
            threading.Thread(target=self._read, name="headwater-jwks", daemon=True).start()

    def _read(self) -> None:
        try:
            self._keys = read_keys(self._address)
        except JwksError as error:
            logger.error("keeping the old keys of tokens: %s", error)
        finally:
            self._is_reading.release()


def read_keys(address: str) -> list[Jwk]:
    """Read the keys at an address that can check signatures; raises JwksError."""
    if urlsplit(address).scheme not in ("file", "http", "https"):
        raise JwksError(f"{address} is no address of a file or of a server")
    try:
        with urlopen(address, timeout=_WITHIN_S) as answer:
            data = answer.read(_MOST_BYTES)
        listed = json.loads(data)["keys"]
        keys = [key for key in map(_key, listed) if key is not None]
    except (OSError, URLError) as error:
        raise JwksError(f"{address} cannot be read: {error}") from error
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        raise JwksError(f"{address} holds no set of keys: {error!r}") from error
    if not keys:
        raise JwksError(f"{address} holds no key of a kind that is known, RSA or EC")
    return keys


def _key(fields: dict[str, Any]) -> Jwk | None:
    if fields.get("use", "sig") != "sig":
        return None
    key_id = fields.get("kid")
    if fields["kty"] == "RSA":
        numbers = rsa.RSAPublicNumbers(_number(fields["e"]), _number(fields["n"]))
        return Jwk(key_id, numbers.public_key())
    curve = _CURVES.get(fields.get("crv", ""))
    if fields["kty"] == "EC" and curve is not None:
        point = ec.EllipticCurvePublicNumbers(_number(fields["x"]), _number(fields["y"]), curve())
        return Jwk(key_id, point.public_key())
    return None


def decode(text: str) -> bytes:
    """Undo base64 as the web writes it, without padding."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def _number(text: str) -> int:
    return int.from_bytes(decode(text), "big")
