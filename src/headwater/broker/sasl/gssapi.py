"""GSSAPI (RFC 4752): a ticket of Kerberos says who somebody is.

Tokens go to and fro until both ends know each other. Then the service says which protection it
offers for what follows, in a signed message: none, which is what TLS is for. The client chooses.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.sasl.kerberos_library import (
    Context,
    Credential,
    KerberosError,
    LibraryMissing,
    Name,
    gssapi,
)
from headwater.broker.sasl.kerberos_rules import KerberosRules, NoMatchingRule
from headwater.broker.sasl.mechanism import LoginRefused, Step
from headwater.config import ConfigError

if TYPE_CHECKING:
    from headwater.broker.sasl.kerberos_library import Gssapi

NAME = "GSSAPI"

_NO_LAYER = 1
_OFFER = bytes((_NO_LAYER, 0, 0, 0))
"""A bit for each protection, and the longest message that may be sent with it."""
_REFUSED = (
    "Authentication failed during authentication due to invalid credentials with SASL mechanism"
    f" {NAME}"
)
"""All that a client is told, as by Kafka: what is wrong is for the operator's eyes."""


class KerberosSettings(NamedTuple):
    """What the settings say of a service of Kerberos."""

    setting: str
    """Where the keytab and the principal come from."""
    keytab: str
    principal: str
    rules: tuple[str, ...]


class KerberosService:
    """The broker as a service of Kerberos: its keys, and whom it takes principals for."""

    def __init__(self, settings: KerberosSettings) -> None:
        """Load the library and look at the keytab; raises ConfigError."""
        try:
            self._library = gssapi()
        except LibraryMissing as error:
            raise ConfigError("sasl.enabled.mechanisms", NAME, str(error)) from None
        self._rules = KerberosRules(list(settings.rules), _default_realm(self._library))
        try:
            self._credential = Credential(self._library, settings.principal, settings.keytab)
        except KerberosError as error:
            raise ConfigError(
                settings.setting,
                f"principal={settings.principal} keyTab={settings.keytab}",
                f"Kerberos says: {error}",
            ) from None

    def begin(self) -> GssapiExchange:
        """Begin a login."""
        return GssapiExchange(Context(self._library, self._credential), self._rules)


class _State(Enum):
    TOKENS = auto()
    LAST_TOKEN_SENT = auto()
    OFFERED = auto()
    DONE = auto()


class GssapiExchange:
    """As many tokens as it takes, then the offer and the choice of a protection."""

    def __init__(self, context: Context, rules: KerberosRules) -> None:
        self._context = context
        self._rules = rules
        self._state = _State.TOKENS

    def take(self, message: bytes) -> Step:
        """Take a token, or the choice of a protection."""
        try:
            if self._state is _State.TOKENS:
                return self._token(message)
            if self._state is _State.LAST_TOKEN_SENT:
                if message:
                    raise _refused("it sent something where it had nothing to say")
                return self._offer()
            if self._state is _State.OFFERED:
                return self._choice(self._context.unwrap(message))
        except KerberosError as error:
            raise _refused(str(error)) from None
        raise _refused("it had logged in before")

    def _token(self, token: bytes) -> Step:
        answer = self._context.accept(token)
        if not self._context.is_established:
            return Step(answer)
        if not answer:
            return self._offer()
        self._state = _State.LAST_TOKEN_SENT
        return Step(answer)

    def _offer(self) -> Step:
        self._state = _State.OFFERED
        return Step(self._context.wrap(_OFFER))

    def _choice(self, chosen: bytes) -> Step:
        """Whoever it wants to be (the authorization id), it is who its ticket says; as in Kafka."""
        if len(chosen) < len(_OFFER):
            raise _refused("its choice of a protection is too short")
        if chosen[0] != _NO_LAYER:
            raise _refused(
                f"it wants the protection {chosen[0]}, and there is only TLS (security.protocol)"
            )
        self._state = _State.DONE
        try:
            return Step(b"", self._rules.short_name(self._context.peer))
        except NoMatchingRule as error:
            raise _refused(str(error)) from None


def _refused(reason: str) -> LoginRefused:
    return LoginRefused(_REFUSED, reason)


def _default_realm(library: Gssapi) -> str:
    """Return what Kerberos takes for the realm of names that have none; it may not have any."""
    try:
        return str(Name.parse(library, "nobody")).rpartition("@")[2]
    except KerberosError:
        return ""
