"""Checks what a client wants a new topic to be, in the order in which Kafka does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.broker.topics.topic_names import name_error
from headwater.broker.topics.topics import NewTopic
from headwater.config import ConfigError
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.broker.config import BrokerConfig
    from headwater.broker.topics.topics import TopicRegistry

MAX_NEW_PARTITIONS = 10_000
"""How many partitions one request may create."""

_FORBIDDEN = "__cluster_metadata"


class WantedTopic(NamedTuple):
    """A new topic as a client asks for it; -1 asks for the broker's defaults."""

    name: str
    partitions: int = -1
    replication_factor: int = -1
    assignments: Sequence[tuple[int, Sequence[int]]] = ()
    configs: Sequence[tuple[str, str | None]] = ()


def check_new_topic(topics: TopicRegistry, config: BrokerConfig, wanted: WantedTopic) -> NewTopic:
    """Return the topic to create; raises KafkaError with what is wrong."""
    check_name(wanted.name)
    if wanted.name in topics.by_name:
        raise KafkaError(
            ErrorCode.TOPIC_ALREADY_EXISTS, f"there is a topic '{wanted.name}' already"
        )
    colliding = topics.colliding(wanted.name)
    if colliding is not None:
        raise KafkaError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"the topic name '{wanted.name}' collides with that of the topic '{colliding}':"
            " '.' and '_' are the same in the names of metrics",
        )
    configs = check_topic_configs(topics, wanted.configs)
    partitions = _check_partitions(topics, config, wanted)
    return NewTopic(wanted.name, partitions, configs)


def check_name(name: str) -> None:
    """Raise KafkaError unless a topic may have this name."""
    problem = name_error(name)
    if problem is not None:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    if name == _FORBIDDEN:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST, f"'{name}' is the name of Kafka's own metadata log"
        )


def check_topic_configs(
    topics: TopicRegistry, configs: Sequence[tuple[str, str | None]]
) -> dict[str, str]:
    """Return a topic's settings; raises KafkaError for one that it cannot have."""
    nulls = [name for name, value in configs if value is None]
    if nulls:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG, f"these settings have no value: {', '.join(nulls)}"
        )
    checked = {name: value for name, value in configs if value is not None}
    check_log_config(topics, checked)
    return checked


def check_log_config(topics: TopicRegistry, configs: Mapping[str, str]) -> None:
    """Raise KafkaError unless a topic may have all of these settings."""
    try:
        config = topics.log_config(configs)
    except ConfigError as error:
        raise KafkaError(ErrorCode.INVALID_CONFIG, str(error)) from error
    if config.remote_storage_enable:
        raise KafkaError(
            ErrorCode.INVALID_CONFIG,
            "remote.storage.enable cannot be true: this broker has no remote storage",
        )


def _check_partitions(topics: TopicRegistry, config: BrokerConfig, wanted: WantedTopic) -> int:
    if wanted.assignments:
        return _check_assignments(topics, wanted)
    topics.replication.check_factor(wanted.name, wanted.replication_factor)
    if wanted.partitions == -1:
        return config.integer("num.partitions")
    if wanted.partitions < 1:
        raise KafkaError(
            ErrorCode.INVALID_PARTITIONS,
            f"'{wanted.name}' cannot have {wanted.partitions} partitions; it needs at least one",
        )
    return wanted.partitions


def _check_assignments(topics: TopicRegistry, wanted: WantedTopic) -> int:
    if wanted.replication_factor != -1 or wanted.partitions != -1:
        raise KafkaError(
            ErrorCode.INVALID_REQUEST,
            f"'{wanted.name}' comes with an assignment, so its number of partitions and its"
            " replication factor must both be -1",
        )
    indexes = sorted(index for index, _ in wanted.assignments)
    if indexes != list(range(len(indexes))):
        raise KafkaError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"the assignment of '{wanted.name}' must name each partition from 0 on once;"
            f" it names {', '.join(map(str, indexes))}",
        )
    for _, brokers in wanted.assignments:
        topics.replication.check_replicas(wanted.name, brokers)
    return len(indexes)
