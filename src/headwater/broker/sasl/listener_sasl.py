"""SASL of one listener: which mechanisms there are, who may use them, and for how long."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.sasl import plain
from headwater.broker.sasl.jaas import options_of, users_of
from headwater.broker.sasl.plain import PlainExchange
from headwater.broker.sasl.scram import ScramExchange
from headwater.broker.sasl.scram_credentials import ScramMechanism
from headwater.config import ConfigError
from headwater.config.errors import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.broker.config import BrokerConfig
    from headwater.broker.config.listener_values import ListenerValues
    from headwater.broker.delegation_tokens.delegation_tokens import DelegationTokens
    from headwater.broker.sasl.gssapi import KerberosSettings
    from headwater.broker.sasl.mechanism import Exchange
    from headwater.broker.sasl.scram_credentials import ScramCredentials

_SCRAM = {mechanism.sasl_name: mechanism for mechanism in ScramMechanism}
_OAUTHBEARER = "OAUTHBEARER"
_GSSAPI = "GSSAPI"
SERVED = (plain.NAME, *_SCRAM, _OAUTHBEARER, _GSSAPI)


class TokenSettings(NamedTuple):
    """Which tokens are taken."""

    keys_at: str
    refresh_s: float
    issuer: str | None
    audience: tuple[str, ...]
    skew_s: int
    subject_claim: str
    scope_claim: str


class SaslSettings(NamedTuple):
    """What the settings say of the logins of one listener."""

    passwords: Mapping[str, str]
    """Of PLAIN, by user."""
    max_session_ms: Mapping[str, int]
    """For each mechanism that is enabled, after which time clients have to log in again, or 0."""
    tokens: TokenSettings | None = None
    """Of OAUTHBEARER, where that is enabled."""
    kerberos: KerberosSettings | None = None
    """Of GSSAPI, where that is enabled."""

    @classmethod
    def of(cls, config: BrokerConfig, listener: str) -> SaslSettings:
        """Read the settings of a listener; raises ConfigError for what cannot be."""
        setting = "sasl.enabled.mechanisms"
        values = config.of_listener(listener)
        enabled = values.words(setting)
        for mechanism in enabled:
            if mechanism not in SERVED:
                raise ConfigError(
                    setting,
                    ",".join(enabled),
                    f"{mechanism} is not served; listener {listener} may have {', '.join(SERVED)}",
                )
        if not enabled:
            raise ConfigError(setting, "", f"listener {listener} needs a mechanism")
        passwords: dict[str, str] = {}
        if plain.NAME in enabled:
            passwords = _passwords(config, listener)
        lifetimes = {
            mechanism: config.of_listener(listener, mechanism).integer("connections.max.reauth.ms")
            for mechanism in enabled
        }
        tokens = _tokens(values) if _OAUTHBEARER in enabled else None
        kerberos = _kerberos(config, listener) if _GSSAPI in enabled else None
        return cls(passwords, lifetimes, tokens, kerberos)


class ListenerSasl:
    """Begins the logins of a listener. Changed settings count for those who log in from then on."""

    def __init__(
        self,
        listener: str,
        config: BrokerConfig,
        credentials: Callable[[], ScramCredentials],
        tokens: DelegationTokens | None = None,
    ) -> None:
        self._listener = listener
        self._config = config
        self._credentials = credentials
        self._tokens = tokens
        self._settings = SaslSettings.of(config, listener)
        self._begin_by_token = _token_exchanges(self._settings.tokens)
        self._begin_by_ticket = _ticket_exchanges(self._settings.kerberos)
        self.max_receive_size = config.of_listener(listener).integer("sasl.server.max.receive.size")
        """How large a message may be before somebody has logged in."""
        config.on_trial(self._check)
        config.on_change(self._reload)

    @property
    def mechanisms(self) -> list[str]:
        """The names of those that are enabled."""
        return list(self._settings.max_session_ms)

    @property
    def failure_delay_s(self) -> float:
        """How long whoever has failed has to wait for the answer."""
        return self._config.integer("connection.failed.authentication.delay.ms") / 1000

    def max_session_ms(self, mechanism: str) -> int:
        """Return after which time a client has to log in again; 0 for never."""
        return self._settings.max_session_ms.get(mechanism, 0)

    def begin(self, mechanism: str) -> Exchange:
        """Begin a login by a mechanism that is enabled."""
        if mechanism == plain.NAME:
            return PlainExchange(self._settings.passwords)
        if mechanism == _OAUTHBEARER:
            assert self._begin_by_token is not None
            return self._begin_by_token()
        if mechanism == _GSSAPI:
            assert self._begin_by_ticket is not None
            return self._begin_by_ticket()
        return ScramExchange(_SCRAM[mechanism], self._credentials(), self._tokens)

    def _check(self, trial: BrokerConfig) -> None:
        settings = SaslSettings.of(trial, self._listener)
        if settings.tokens != self._settings.tokens:
            _token_exchanges(settings.tokens)
        if settings.kerberos != self._settings.kerberos:
            _ticket_exchanges(settings.kerberos)

    def _reload(self) -> None:
        before, self._settings = self._settings, SaslSettings.of(self._config, self._listener)
        if self._settings.tokens != before.tokens:
            self._begin_by_token = _token_exchanges(self._settings.tokens)
        if self._settings.kerberos != before.kerberos:
            self._begin_by_ticket = _ticket_exchanges(self._settings.kerberos)


def _jaas(config: BrokerConfig, listener: str, mechanism: str) -> tuple[str, str | None]:
    """Return what the login module of a mechanism is told, after the name of that setting."""
    setting = "sasl.jaas.config"
    name = f"listener.name.{listener.lower()}.{mechanism.lower()}.{setting}"
    return name, config.of_listener(listener, mechanism).text(setting)


def _passwords(config: BrokerConfig, listener: str) -> dict[str, str]:
    name, text = _jaas(config, listener, plain.NAME)
    if text is None:
        raise ConfigError(
            name, None, 'PLAIN needs users: PlainLoginModule required user_NAME="PASSWORD";'
        )
    users = users_of(name, text, "PlainLoginModule")
    if not users:
        raise ConfigError(name, HIDDEN, 'there are no users in it, as user_NAME="PASSWORD"')
    return users


def _tokens(values: ListenerValues) -> TokenSettings:
    address = values.text("sasl.oauthbearer.jwks.endpoint.url")
    if address is None:
        raise ConfigError(
            "sasl.oauthbearer.jwks.endpoint.url",
            None,
            "OAUTHBEARER needs the keys of an identity provider, a file: or https: address;"
            " unsecured tokens are not taken",
        )
    return TokenSettings(
        address,
        values.integer("sasl.oauthbearer.jwks.endpoint.refresh.ms") / 1000,
        values.text("sasl.oauthbearer.expected.issuer"),
        values.words("sasl.oauthbearer.expected.audience"),
        values.integer("sasl.oauthbearer.clock.skew.seconds"),
        values.text("sasl.oauthbearer.sub.claim.name") or "sub",
        values.text("sasl.oauthbearer.scope.claim.name") or "scope",
    )


def _token_exchanges(tokens: TokenSettings | None) -> Callable[[], Exchange] | None:
    """Return what begins a login by token, with keys that were read once; raises ConfigError."""
    if tokens is None:
        return None
    # Only now: who does without tokens does without the memory of what checks them.
    from headwater.broker.sasl.oauthbearer import OauthBearerExchange
    from headwater.security.jwks import JwksError, KeySource
    from headwater.security.jwt import Expectations

    try:
        keys = KeySource(tokens.keys_at, tokens.refresh_s)
    except JwksError as error:
        raise ConfigError(
            "sasl.oauthbearer.jwks.endpoint.url", tokens.keys_at, str(error)
        ) from None
    return partial(OauthBearerExchange, keys, Expectations(*tokens[2:]))


_FORM = 'useKeyTab=true storeKey=true keyTab="FILE" principal="SERVICE/HOST@REALM"'


def _kerberos(config: BrokerConfig, listener: str) -> KerberosSettings:
    from headwater.broker.sasl.gssapi import KerberosSettings

    name, text = _jaas(config, listener, _GSSAPI)
    if text is None:
        raise ConfigError(
            name,
            None,
            "GSSAPI, which sasl.enabled.mechanisms has unless it is set, needs the broker's own"
            f" key: Krb5LoginModule required {_FORM};",
        )
    options = options_of(name, text, "Krb5LoginModule", _FORM)
    keytab, principal = options.get("keyTab"), options.get("principal")
    if options.get("useKeyTab", "").lower() != "true" or not keytab or not principal:
        raise ConfigError(name, HIDDEN, f"a broker's key comes from a keytab: {_FORM}")
    values = config.of_listener(listener)
    told, in_jaas = values.text("sasl.kerberos.service.name"), options.get("serviceName")
    if told is None and in_jaas is None:
        raise ConfigError(
            "sasl.kerberos.service.name",
            None,
            "No serviceName defined in either JAAS or Kafka config",
        )
    if told is not None and in_jaas is not None and told != in_jaas:
        raise ConfigError(
            "sasl.kerberos.service.name",
            told,
            f"Conflicting serviceName values found in JAAS and Kafka configs: {name} has {in_jaas}",
        )
    return KerberosSettings(
        name, keytab, principal, values.words("sasl.kerberos.principal.to.local.rules")
    )


def _ticket_exchanges(kerberos: KerberosSettings | None) -> Callable[[], Exchange] | None:
    """Return what begins a login by ticket; raises ConfigError."""
    if kerberos is None:
        return None
    # Only now: the library is there for those who want it.
    from headwater.broker.sasl.gssapi import KerberosService

    return KerberosService(kerberos).begin
