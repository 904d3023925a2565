"""Finds a broker setting by its name, and says what is wrong with a name that is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.config.settings import BROKER_SETTINGS
from headwater.broker.config.synonyms import TOPIC_SYNONYMS
from headwater.config import UnknownSettingError
from headwater.log.topic_settings import TOPIC_SETTINGS

if TYPE_CHECKING:
    from headwater.config import ConfigDef

LISTENER_PREFIX = "listener.name."
SHOWN_IF_SET = frozenset(
    (
        "allow.everyone.if.no.acl.found",
        "follower.replication.throttled.rate",
        "leader.replication.throttled.rate",
        "replica.alter.log.dirs.io.max.bytes.per.second",
        "super.users",
    )
)
"""Kafka knows these only once somebody has set them."""

_REMOVED_PREFIXES = ("zookeeper.", "control.plane.", "password.encoder.")
_REMOVED = {
    "broker.id.generation.enable",
    "controlled.shutdown.max.retries",
    "controlled.shutdown.retry.backoff.ms",
    "inter.broker.protocol.version",
    "leader.imbalance.per.broker.percentage",
    "log.message.downconversion.enable",
    "log.message.format.version",
    "log.message.timestamp.difference.max.ms",
    "offsets.commit.required.acks",
    "reserved.broker.max.id",
}


def definition_of(name: str) -> ConfigDef:
    """Return the definition of a setting, also of one that is meant for a single listener."""
    definition = BROKER_SETTINGS.get(base_name(name))
    if definition is None:
        raise _unknown(name)
    return definition


def base_name(name: str) -> str:
    """Return the setting that `listener.name.LISTENER.setting` is about, or the name itself.

    >>> base_name("listener.name.internal.max.connections")
    'max.connections'
    """
    if name.startswith(LISTENER_PREFIX):
        _, _, rest = name.removeprefix(LISTENER_PREFIX).partition(".")
        # SASL settings may name a mechanism in between: listener.name.x.plain.sasl.jaas.config
        if rest not in BROKER_SETTINGS:
            _, _, after_mechanism = rest.partition(".")
            if after_mechanism in BROKER_SETTINGS:
                return after_mechanism
        return rest
    return name


def was_removed(name: str) -> bool:
    """Whether Kafka 4 dropped a setting that older configuration files still carry."""
    return name in _REMOVED or name.startswith(_REMOVED_PREFIXES)


def _unknown(name: str) -> UnknownSettingError:
    if name not in TOPIC_SETTINGS:
        return BROKER_SETTINGS.unknown(name)
    synonyms = TOPIC_SYNONYMS.get(name, ())
    instead = f"; the broker's is {synonyms[0][0]}" if synonyms else ""
    return UnknownSettingError(name, f"it is a setting of topics{instead}")
