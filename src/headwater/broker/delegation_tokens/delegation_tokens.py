"""All delegation tokens: their HMACs, their times, and what SCRAM has to know of them.

A token's HMAC is that of its id under `delegation.token.secret.key`, so that all brokers with that
key know it, and nobody learns it from the journal. It is the password of who logs in with the
token, under the token's id as user.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.delegation_tokens.delegation_token import DelegationToken
from headwater.broker.sasl.scram_credentials import (
    MIN_ITERATIONS,
    ScramCredential,
    ScramMechanism,
    credential_of,
)
from headwater.broker.topics.topic_names import id_text, new_id
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from headwater.broker.config import BrokerConfig
    from headwater.broker.session import Principal

_SALT_BYTES = 24


class TokenLogin(NamedTuple):
    """What a login with a token is checked by, and what it is worth."""

    credential: ScramCredential
    owner: str
    expires_at: float


class DelegationTokens:
    """The tokens of a broker. It decides and calculates; whoever asks it stores what changes."""

    def __init__(
        self, config: BrokerConfig, known: Callable[[], Mapping[str, DelegationToken]]
    ) -> None:
        self._config = config
        self._known = known
        self._credentials: dict[tuple[str, ScramMechanism], ScramCredential] = {}

    @property
    def is_enabled(self) -> bool:
        """Whether there is a key to make them with."""
        return bool(self._config.text("delegation.token.secret.key"))

    def require_enabled(self) -> None:
        """Raise KafkaError where there are none."""
        if not self.is_enabled:
            raise KafkaError(
                ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED,
                "Delegation tokens are not enabled; set delegation.token.secret.key",
            )

    def all(self) -> Sequence[DelegationToken]:
        """Return those that are known, in the order of their creation."""
        return list(self._known().values()) if self.is_enabled else []

    def expired(self, now_ms: int) -> Sequence[DelegationToken]:
        """Return those that can be forgotten."""
        return [token for token in self._known().values() if token.has_expired(now_ms)]

    def hmac_of(self, token_id: str) -> bytes:
        """Return the HMAC of a token, as Kafka calculates it."""
        key = self._config.text("delegation.token.secret.key") or ""
        return hmac.digest(key.encode(), token_id.encode(), "sha512")

    def new(
        self,
        owner: Principal,
        requester: Principal,
        renewers: tuple[Principal, ...],
        max_lifetime_ms: int,
        now_ms: int,
    ) -> DelegationToken:
        """Make a token; a lifetime of nothing or less is the longest that there is."""
        longest_ms = self._config.integer("delegation.token.max.lifetime.ms")
        if max_lifetime_ms > 0:
            longest_ms = min(longest_ms, max_lifetime_ms)
        max_ms = now_ms + longest_ms
        expires_ms = min(max_ms, now_ms + self._config.integer("delegation.token.expiry.time.ms"))
        return DelegationToken(
            id_text(new_id()), owner, requester, renewers, now_ms, max_ms, expires_ms
        )

    def renewed(
        self, given_hmac: bytes, principal: Principal, period_ms: int, now_ms: int
    ) -> DelegationToken:
        """Return a token with a later end, if somebody may have that; raises KafkaError."""
        token = self._found(given_hmac, principal, now_ms)
        longest_ms = self._config.integer("delegation.token.expiry.time.ms")
        lasts_ms = min(longest_ms, period_ms) if period_ms > 0 else longest_ms
        return token._replace(expires_ms=min(token.max_ms, now_ms + lasts_ms))

    def expiring(
        self, given_hmac: bytes, principal: Principal, period_ms: int, now_ms: int
    ) -> DelegationToken:
        """Return a token with another end, which is past for a negative period."""
        token = self._found(given_hmac, principal, now_ms)
        return token._replace(expires_ms=min(token.max_ms, now_ms + period_ms))

    def login(self, token_id: str, mechanism: ScramMechanism, now_ms: int) -> TokenLogin | None:
        """Return what a client with this token has to prove; None for one that is not good."""
        token = self._known().get(token_id) if self.is_enabled else None
        if token is None or token.has_expired(now_ms):
            return None
        key = (token_id, mechanism)
        credential = self._credentials.get(key)
        if credential is None:
            self._forget_gone()
            credential = self._credentials[key] = self._credential(token_id, mechanism)
        return TokenLogin(credential, token.owner.name, token.expires_ms / 1000)

    def imitation(self, token_id: str, mechanism: ScramMechanism) -> ScramCredential:
        """Return what a token that does not exist would have to be proved by; of no use."""
        nothing = bytes(hashlib.new(mechanism.hash_name).digest_size)
        return ScramCredential(self._salt(token_id, mechanism), MIN_ITERATIONS, nothing, nothing)

    def _found(self, given_hmac: bytes, principal: Principal, now_ms: int) -> DelegationToken:
        self.require_enabled()
        for token in self._known().values():
            if hmac.compare_digest(self.hmac_of(token.id), given_hmac):
                break
        else:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND, "No token has this HMAC")
        if token.has_expired(now_ms):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_EXPIRED, f"Token {token.id} has expired")
        if not token.may_be_renewed_by(principal):
            raise KafkaError(
                ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH,
                f"{principal} is neither owner nor renewer of token {token.id}",
            )
        return token

    def _credential(self, token_id: str, mechanism: ScramMechanism) -> ScramCredential:
        password = base64.b64encode(self.hmac_of(token_id))
        salt = self._salt(token_id, mechanism)
        salted = hashlib.pbkdf2_hmac(mechanism.hash_name, password, salt, MIN_ITERATIONS)
        return credential_of(mechanism, salt, MIN_ITERATIONS, salted)

    def _salt(self, token_id: str, mechanism: ScramMechanism) -> bytes:
        key = hmac.digest(self.hmac_of(""), mechanism.sasl_name.encode(), "sha512")
        return hmac.digest(key, token_id.encode(), "sha512")[:_SALT_BYTES]

    def _forget_gone(self) -> None:
        known = self._known()
        for key in [key for key in self._credentials if key[0] not in known]:
            del self._credentials[key]
