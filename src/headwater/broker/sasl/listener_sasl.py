"""SASL of one listener: which mechanisms there are, who may use them, and for how long."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.sasl import plain
from headwater.broker.sasl.jaas import users_of
from headwater.broker.sasl.plain import PlainExchange
from headwater.broker.sasl.scram import ScramExchange
from headwater.broker.sasl.scram_credentials import ScramMechanism
from headwater.config import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.broker.config import BrokerConfig
    from headwater.broker.sasl.mechanism import Exchange
    from headwater.broker.sasl.scram_credentials import ScramCredentials

_SCRAM = {mechanism.sasl_name: mechanism for mechanism in ScramMechanism}
SERVED = (plain.NAME, *_SCRAM)


class SaslSettings(NamedTuple):
    """What the settings say of the logins of one listener."""

    passwords: Mapping[str, str]
    """Of PLAIN, by user."""
    max_session_ms: Mapping[str, int]
    """For each mechanism that is enabled, after which time clients have to log in again, or 0."""

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
        return cls(passwords, lifetimes)


class ListenerSasl:
    """Begins the logins of a listener. Changed settings count for those who log in from then on."""

    def __init__(
        self, listener: str, config: BrokerConfig, credentials: Callable[[], ScramCredentials]
    ) -> None:
        self._listener = listener
        self._config = config
        self._credentials = credentials
        self._settings = SaslSettings.of(config, listener)
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
        return ScramExchange(_SCRAM[mechanism], self._credentials())

    def _check(self, trial: BrokerConfig) -> None:
        SaslSettings.of(trial, self._listener)

    def _reload(self) -> None:
        self._settings = SaslSettings.of(self._config, self._listener)


def _passwords(config: BrokerConfig, listener: str) -> dict[str, str]:
    setting = "sasl.jaas.config"
    name = f"listener.name.{listener.lower()}.plain.{setting}"
    text = config.of_listener(listener, plain.NAME).text(setting)
    if text is None:
        raise ConfigError(
            name, None, 'PLAIN needs users: PlainLoginModule required user_NAME="PASSWORD";'
        )
    users = users_of(name, text, "PlainLoginModule")
    if not users:
        raise ConfigError(name, "[hidden]", 'there are no users in it, as user_NAME="PASSWORD"')
    return users
