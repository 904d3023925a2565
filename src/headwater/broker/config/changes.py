"""Works out what a request to change settings leads to, and whether that is allowed."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.config.names import LISTENER_PREFIX, definition_of
from headwater.broker.topics.topic_creation import check_log_config
from headwater.broker.topics.topic_names import name_error
from headwater.config import ConfigDef, ConfigError, ConfigType, UpdateMode, Value
from headwater.log.topic_settings import TOPIC_SETTINGS
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.broker.config import BrokerConfig
    from headwater.broker.topics.topics import TopicRegistry


class Operation(IntEnum):
    """What to do with a setting, numbered as IncrementalAlterConfigs numbers it."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class Change(NamedTuple):
    """One setting to change."""

    name: str
    operation: int
    value: str | None


class TopicConfigs:
    """Changes the settings of topics."""

    def __init__(self, topics: TopicRegistry, config: BrokerConfig) -> None:
        self._topics = topics
        self._config = config

    def after(self, name: str, changes: Sequence[Change]) -> dict[str, str]:
        """Return a topic's settings after some have changed; raises KafkaError if it cannot be."""
        _check_topic_name(name)
        topic = self._topics.by_name.get(name)
        before = topic.configs if topic is not None else {}
        configs = dict(before)
        defaults = self._config.topic_defaults()
        for change in _checked(changes):
            definition = TOPIC_SETTINGS.get(change.name)
            current = before.get(change.name, defaults.get(change.name))
            if current is None and definition is not None:
                current = definition.format(definition.default)
            _apply(configs, change, definition, current or "")
        check_log_config(self._topics, configs)
        if topic is None:
            # Kafka, too, says first that a value is wrong.
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic '{name}'")
        return configs


class BrokerConfigs:
    """Changes what is set at run time for this broker, or for all under an empty name."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config

    def current(self, broker: str) -> Mapping[str, str]:
        """Return what is set at run time; raises KafkaError if this is another broker."""
        if not broker:
            return self._config.dynamic_default
        check_node_id(broker, self._config.node_id)
        return self._config.dynamic_broker

    def after(
        self, broker: str, before: Mapping[str, str], changes: Sequence[Change]
    ) -> dict[str, str]:
        """Return the settings after some have changed; raises KafkaError if it cannot be."""
        configs = dict(before)
        for change in _checked(changes):
            if change.operation == Operation.DELETE:
                configs.pop(change.name, None)
                continue
            definition = self._check_dynamic(broker, change.name)
            effective = definition.format(self._effective(change.name)) or ""
            _apply(configs, change, definition, before.get(change.name, effective))
        default, mine = self._config.dynamic_default, self._config.dynamic_broker
        try:
            self._config.check_dynamic(*((default, configs) if broker else (configs, mine)))
        except ConfigError as error:
            raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from error
        return configs

    def _effective(self, name: str) -> Value:
        try:
            return self._config.value(name)
        except KeyError:  # nothing was set for this listener so far
            return self._config.value(definition_of(name).name)

    def _check_dynamic(self, broker: str, name: str) -> ConfigDef:
        try:
            definition = definition_of(name)
        except ConfigError as error:
            raise KafkaError(ErrorCode.INVALID_REQUEST, str(error)) from error
        if definition.update is UpdateMode.READ_ONLY:
            problem = "can only be set at start"
        elif name in _ONLY_PER_LISTENER:
            problem = f"can be changed for one listener only: {LISTENER_PREFIX}LISTENER.{name}"
        elif not broker and definition.update is UpdateMode.PER_BROKER:
            problem = "can be changed for one broker only, not for all"
        else:
            return definition
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} {problem}")


def check_node_id(name: str, node_id: int) -> None:
    """Raise KafkaError unless a resource name is the number of this broker."""
    if not name.lstrip("-").isdecimal():
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"a broker is named by its number, not {name}")
    if int(name) != node_id:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"this is broker {node_id}, and there is no broker {name}"
        )


_ONLY_PER_LISTENER = frozenset(
    f"ssl.{name}"
    for name in (
        "key.password", "keystore.certificate.chain", "keystore.key", "keystore.location",
        "keystore.password", "keystore.type", "truststore.certificates", "truststore.location",
        "truststore.password", "truststore.type",
    )
)  # fmt: skip


def _check_topic_name(name: str) -> None:
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "topics have no common settings")
    problem = name_error(name)
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)


def _checked(changes: Sequence[Change]) -> Sequence[Change]:
    names = [change.name for change in changes]
    for name in names:
        if names.count(name) > 1:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"the request changes {name} twice")
    for change in changes:
        if change.operation not in Operation.__members__.values():
            raise KafkaError(
                ErrorCode.INVALID_REQUEST, f"there is no operation {change.operation} on settings"
            )
        if change.operation != Operation.DELETE and change.value is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"there is no value for {change.name}")
    return changes


def _apply(
    configs: dict[str, str], change: Change, definition: ConfigDef | None, current: str
) -> None:
    operation = Operation(change.operation)
    value = change.value or ""
    if operation is Operation.DELETE:
        configs.pop(change.name, None)
    elif operation is Operation.SET:
        configs[change.name] = value
    else:
        if definition is None or definition.type is not ConfigType.LIST:
            raise KafkaError(
                ErrorCode.INVALID_CONFIG,
                f"{operation.name} is for lists, and {change.name} is none",
            )
        items = [item for item in current.split(",") if item]
        given = [item.strip() for item in value.split(",") if item.strip()]
        if operation is Operation.APPEND:
            items += [item for item in given if item not in items]
        else:
            items = [item for item in items if item not in given]
        configs[change.name] = ",".join(items)
