"""Connectors as the topic `connect-configs` has them, in Kafka Connect's own records."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from headwater.topic_state.errors import InvalidRecordError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.topic_state.leadership import Headers, Mark
    from headwater.topic_state.log import KeyValue, Record

_CONNECTOR, _TARGET, _COMMIT, _TASK = "connector-", "target-state-", "commit-", "task-"


class TargetState(StrEnum):
    """What a connector is meant to do."""

    STARTED = "STARTED"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"


@dataclass(slots=True)
class StoredConnector:
    """A connector as it is stored."""

    config: dict[str, str]
    target: TargetState = TargetState.STARTED
    tasks: dict[int, dict[str, str]] = field(default_factory=dict)


class ConfigRecord(NamedTuple):
    """A record of the topic: what it is about, whom, and what it says."""

    prefix: str
    name: str
    value: Any


class ConfigState:
    """All connectors, by name; a `State` of topic_state.

    Kafka Connect's own workers skip the claims of the lead, whose key they do not know.
    """

    claim_key = b"headwater-leader"

    def __init__(self) -> None:
        self._configs: dict[str, dict[str, str]] = {}
        self._targets: dict[str, TargetState] = {}
        self._tasks: dict[str, dict[int, dict[str, str]]] = {}

    def connectors(self) -> dict[str, StoredConnector]:
        """Return all connectors, sorted by name."""
        return {name: self._stored(name) for name in sorted(self._configs)}

    def get(self, name: str) -> StoredConnector | None:
        """Return a connector; None if there is none of this name."""
        return self._stored(name) if name in self._configs else None

    def decode(self, record: Record) -> ConfigRecord:
        """Understand a record; raises InvalidRecordError."""
        try:
            key = (record.key or b"").decode()
            value = None if record.value is None else msgspec.json.decode(record.value)
        except (UnicodeDecodeError, msgspec.DecodeError) as failure:
            raise InvalidRecordError(f"it is no record of Kafka Connect: {failure}") from None
        return _checked(ConfigRecord(*_split(key), value))

    def apply(self, decoded: ConfigRecord, record: Record, mark: Mark | None) -> None:
        """Take in a record."""
        prefix, name, value = decoded
        match prefix:
            case "connector-" if value is None:
                self._configs.pop(name, None)
                self._tasks.pop(name, None)
            case "connector-":
                self._configs[name] = {key: str(text) for key, text in value["properties"].items()}
            case "target-state-" if value is None:
                self._targets.pop(name, None)
            case "target-state-":
                self._targets[name] = TargetState(value.get("state.v2") or value["state"])
            case "task-" if value is not None:
                connector, _, number = name.rpartition("-")
                self._tasks.setdefault(connector, {})[int(number)] = value["properties"]

    def restoring(self, key: bytes) -> Sequence[KeyValue]:
        """Return the record that a key had before somebody overwrote it who did not lead."""
        prefix, name = _split(key.decode())
        stored = self.get(name)
        if prefix == _CONNECTOR:
            return [(key, None if stored is None else _properties(stored.config))]
        if prefix == _TARGET:
            return [(key, None if stored is None else _target(stored.target))]
        return []

    def claim_headers(self) -> Headers:
        """Return nothing: what was deleted may be forgotten."""
        return []

    def _stored(self, name: str) -> StoredConnector:
        target = self._targets.get(name, TargetState.STARTED)
        return StoredConnector(self._configs[name], target, self._tasks.get(name, {}))


def configured(name: str, config: Mapping[str, str], task: Mapping[str, str]) -> list[KeyValue]:
    """Return the records of a connector's configuration, and of its one task's."""
    return [
        (f"{_CONNECTOR}{name}".encode(), _properties(config)),
        (f"{_TASK}{name}-0".encode(), _properties(task)),
        (f"{_COMMIT}{name}".encode(), msgspec.json.encode({"tasks": 1})),
    ]


def targeted(name: str, target: TargetState) -> list[KeyValue]:
    """Return the record of what a connector is meant to do."""
    return [(f"{_TARGET}{name}".encode(), _target(target))]


def deleted(name: str) -> list[KeyValue]:
    """Return the records that delete a connector."""
    return [(f"{_CONNECTOR}{name}".encode(), None), (f"{_TARGET}{name}".encode(), None)]


def _properties(config: Mapping[str, str]) -> bytes:
    return msgspec.json.encode({"properties": dict(config)})


def _target(target: TargetState) -> bytes:
    # Workers before Kafka 3.5 know of no STOPPED: they read PAUSED.
    old = TargetState.PAUSED if target is TargetState.STOPPED else target
    return msgspec.json.encode({"state": old.value, "state.v2": target.value})


def _split(key: str) -> tuple[str, str]:
    for prefix in (_CONNECTOR, _TARGET, _COMMIT, _TASK):
        if key.startswith(prefix):
            return prefix, key.removeprefix(prefix)
    return "", key  # a session key, a restart: of no use here


def _checked(record: ConfigRecord) -> ConfigRecord:
    prefix, name, value = record
    if not prefix or value is None:
        return record
    if not isinstance(value, dict):
        raise InvalidRecordError(f"the value of {prefix}{name} is no object")
    if prefix in (_CONNECTOR, _TASK) and not isinstance(value.get("properties"), dict):
        raise InvalidRecordError(f"{prefix}{name} has no properties")
    if prefix == _TASK and not name.rpartition("-")[2].isdecimal():
        raise InvalidRecordError(f"{prefix}{name} is no task's")
    if prefix == _TARGET and (value.get("state.v2") or value.get("state")) not in list(TargetState):
        raise InvalidRecordError(f"{prefix}{name} has no state that is known: {value}")
    return record
