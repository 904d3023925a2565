"""How connectors and tasks are, as the topic `connect-status` has it in Kafka Connect's records."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.topic_state.log import KeyValue, Record

_CONNECTOR, _TASK, _TOPIC = "status-connector-", "status-task-", "status-topic-"
_OF_CONNECTOR = ":connector-"


class TaskState(StrEnum):
    """What a connector or a task does, in Kafka Connect's words."""

    UNASSIGNED = "UNASSIGNED"
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"
    FAILED = "FAILED"
    RESTARTING = "RESTARTING"


@dataclass(frozen=True, slots=True)
class Status:
    """How a connector or a task is, since when, and on which worker."""

    state: TaskState
    trace: str | None
    worker_id: str
    generation: int


class StatusState:
    """What the records of the topic amount to; any worker may write them."""

    def __init__(self) -> None:
        self.connectors: dict[str, Status] = {}
        self.tasks: dict[str, Status] = {}
        self._topics: dict[str, set[str]] = {}

    def topics(self, connector: str) -> list[str]:
        """Return the topics that a connector has used since they were last reset."""
        return sorted(self._topics.get(connector, ()))

    def apply(self, records: Sequence[Record]) -> None:
        """Take in records; what is none of Kafka Connect's is left alone."""
        for record in records:
            key = (record.key or b"").decode(errors="replace")
            if key.startswith(_CONNECTOR):
                _note(self.connectors, key.removeprefix(_CONNECTOR), record.value)
            elif key.startswith(_TASK):
                name, _, number = key.removeprefix(_TASK).rpartition("-")
                if number == "0":
                    _note(self.tasks, name, record.value)
            elif key.startswith(_TOPIC):
                topic, _, connector = key.removeprefix(_TOPIC).partition(_OF_CONNECTOR)
                topics = self._topics.setdefault(connector, set())
                (topics.discard if record.value is None else topics.add)(topic)


def reported(name: str, connector: Status | None, task: Status | None) -> list[KeyValue]:
    """Return the records of how a connector and its task are; None where there is none."""
    return [
        (f"{_CONNECTOR}{name}".encode(), None if connector is None else _encoded(connector)),
        (f"{_TASK}{name}-0".encode(), None if task is None else _encoded(task)),
    ]


def topic_used(connector: str, topic: str) -> KeyValue:
    """Return the record that says that a connector uses a topic."""
    about = {
        "name": topic,
        "connector": connector,
        "task": 0,
        "discoverTimestamp": int(time.time() * 1000),
    }
    return _topic_key(connector, topic), msgspec.json.encode({"topic": about})


def topic_forgotten(connector: str, topic: str) -> KeyValue:
    """Return the record that takes that back."""
    return _topic_key(connector, topic), None


def _topic_key(connector: str, topic: str) -> bytes:
    return f"{_TOPIC}{topic}{_OF_CONNECTOR}{connector}".encode()


def _encoded(status: Status) -> bytes:
    return msgspec.json.encode(asdict(status))


def _note(statuses: dict[str, Status], name: str, value: bytes | None) -> None:
    if value is None:
        statuses.pop(name, None)
        return
    try:
        statuses[name] = msgspec.convert(msgspec.json.decode(value), Status)
    except msgspec.MsgspecError:
        statuses.pop(name, None)  # of a later version: unknown, until we write it
