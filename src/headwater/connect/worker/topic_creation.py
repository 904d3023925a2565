"""Topics that a source's records go to, made as `topic.creation.*` says before they are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.clients.errors import describe
from headwater.config import ConfigError
from headwater.connect.connectors.connector import ConnectorError, RetriableError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

PREFIX = "topic.creation."
_GROUPS = f"{PREFIX}groups"
_DEFAULT = "default"
_PARTITIONS, _FACTOR = "partitions", "replication.factor"
_TIMEOUT_S = 30.0
# What is wrong with the settings themselves: no waiting cures it.
_REFUSED = (
    KafkaError.INVALID_CONFIG,
    KafkaError.INVALID_PARTITIONS,
    KafkaError.INVALID_REPLICATION_FACTOR,
    KafkaError.POLICY_VIOLATION,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
)


@dataclass(frozen=True)
class TopicGroup:
    """Topics that are made alike; -1 is the broker's default."""

    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]
    partitions: int
    replication_factor: int
    config: Mapping[str, str]

    def has(self, topic: str) -> bool:
        """Tell whether a topic belongs to it."""
        included = any(pattern.fullmatch(topic) for pattern in self.include)
        return included and not any(pattern.fullmatch(topic) for pattern in self.exclude)


def topic_groups(properties: Mapping[str, str]) -> tuple[TopicGroup, ...]:
    """Return the groups of a connector, the default one last; raises ConfigError.

    >>> groups = topic_groups({
    ...     "topic.creation.default.partitions": "3",
    ...     "topic.creation.default.replication.factor": "-1",
    ...     "topic.creation.default.cleanup.policy": "compact",
    ... })
    >>> groups[0].partitions, groups[0].config, groups[0].has("any")
    (3, {'cleanup.policy': 'compact'}, True)
    >>> topic_groups({})
    ()
    """
    if not any(name.startswith(PREFIX) for name in properties):
        return ()
    listed = [each.strip() for each in properties.get(_GROUPS, "").split(",")]
    names = [name for name in listed if name and name != _DEFAULT]
    default = {_PARTITIONS: None, _FACTOR: None}
    last = _group(properties, _DEFAULT, default)
    inherited = {_PARTITIONS: last.partitions, _FACTOR: last.replication_factor}
    return (*(_group(properties, name, inherited) for name in names), last)


class TopicCreation:
    """Makes topics of a connector that are missing; does nothing where no setting says how."""

    def __init__(self, properties: Mapping[str, str], client: Mapping[str, Any]) -> None:
        self._groups = topic_groups(properties)
        self._client = dict(client)
        self._admin: AdminClient | None = None
        self._known: set[str] = set()

    @property
    def is_wanted(self) -> bool:
        """Whether there is anything to do."""
        return bool(self._groups)

    def make(self, topics: Iterable[str]) -> None:
        """Make those that are not there; raises ConnectorError."""
        wanted = set(topics) - self._known
        if not wanted:
            return
        if self._admin is None:
            self._admin = AdminClient(self._client)
        try:
            there = self._admin.list_topics(timeout=_TIMEOUT_S).topics
        except KafkaException as failure:
            raise RetriableError(f"the topics are not known: {describe(failure.args[0])}") from None
        new = [self._topic(name) for name in sorted(wanted - there.keys())]
        for name, done in (self._admin.create_topics(new) if new else {}).items():
            try:
                done.result(_TIMEOUT_S)
            except KafkaException as failure:
                _refuse(name, failure.args[0])
        self._known |= wanted

    def _topic(self, name: str) -> NewTopic:
        group = next(each for each in self._groups if each.has(name))
        return NewTopic(name, group.partitions, group.replication_factor, config=dict(group.config))


def _refuse(topic: str, error: KafkaError) -> None:
    if error.code() == KafkaError.TOPIC_ALREADY_EXISTS:
        return
    kind = ConnectorError if error.code() in _REFUSED else RetriableError
    raise kind(f"the topic {topic} cannot be made as {PREFIX}* says: {describe(error)}")


def _group(
    properties: Mapping[str, str], name: str, inherited: Mapping[str, int | None]
) -> TopicGroup:
    prefix = f"{PREFIX}{name}."
    given = {
        each.removeprefix(prefix): value
        for each, value in properties.items()
        if each.startswith(prefix)
    }
    everything = ".*" if name == _DEFAULT else ""
    include = _patterns(f"{prefix}include", given.pop("include", everything))
    if not include:
        raise ConfigError(
            f"{prefix}include", None, "say which topics the group has, such as orders.*"
        )
    return TopicGroup(
        include,
        _patterns(f"{prefix}exclude", given.pop("exclude", "")),
        _number(f"{prefix}{_PARTITIONS}", given.pop(_PARTITIONS, None), inherited[_PARTITIONS]),
        _number(f"{prefix}{_FACTOR}", given.pop(_FACTOR, None), inherited[_FACTOR]),
        given,
    )


def _patterns(name: str, text: str) -> tuple[re.Pattern[str], ...]:
    try:
        return tuple(re.compile(part.strip()) for part in text.split(",") if part.strip())
    except re.error as failure:
        raise ConfigError(name, text, f"it is no regular expression: {failure}") from None


def _number(name: str, text: str | None, inherited: int | None) -> int:
    if text is None:
        if inherited is None:
            raise ConfigError(name, None, "it is needed; -1 is the broker's default")
        return inherited
    if not re.fullmatch(r"-1|[1-9]\d*", text.strip()):
        raise ConfigError(name, text, "give a number, or -1 for the broker's default")
    return int(text)
