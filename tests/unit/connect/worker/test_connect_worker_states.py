"""What records of Kafka Connect's topics amount to, also those that its own workers wrote."""

from __future__ import annotations

import json

import pytest

from headwater.connect.worker.config_state import (
    ConfigState,
    TargetState,
    configured,
    deleted,
    targeted,
)
from headwater.connect.worker.offset_store import ConnectorOffsets, StoredOffset
from headwater.connect.worker.status_state import (
    Status,
    StatusState,
    TaskState,
    reported,
    topic_forgotten,
    topic_used,
)
from headwater.topic_state.errors import InvalidRecordError
from headwater.topic_state.log import Record


def record(key: str | bytes, value: object) -> Record:
    as_bytes = key if isinstance(key, bytes) else key.encode()
    encoded = value if isinstance(value, bytes | None) else json.dumps(value).encode()
    return Record(0, 0, as_bytes, encoded, None)


def take(state: ConfigState, *records: Record) -> None:
    for each in records:
        state.apply(state.decode(each), each, None)


def test_connectors_are_what_was_last_written() -> None:
    state = ConfigState()
    take(state, *(record(*each) for each in configured("a", {"x": "1"}, {"x": "1"})))
    take(state, *(record(*each) for each in targeted("a", TargetState.STOPPED)))
    found = state.get("a")
    assert found is not None
    assert (found.config, found.target) == ({"x": "1"}, TargetState.STOPPED)
    assert found.tasks == {0: {"x": "1"}}
    assert state.restoring(b"connector-a") == configured("a", {"x": "1"}, {})[:1]
    assert state.restoring(b"target-state-a") == targeted("a", TargetState.STOPPED)
    take(state, *(record(*each) for each in deleted("a")))
    assert state.connectors() == {}
    assert state.restoring(b"connector-a") == [(b"connector-a", None)]


def test_records_of_older_workers_are_read() -> None:
    state = ConfigState()
    take(
        state,
        record("connector-b", {"properties": {"tasks.max": "2"}}),
        record("target-state-b", {"state": "PAUSED"}),
        record("session-key", {"key": "x"}),
        record("restart-connector-b", {"only-failed": True}),
    )
    found = state.get("b")
    assert found is not None
    assert found.target is TargetState.PAUSED


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("connector-c", b"no json"),
        ("connector-c", {"config": {}}),
        ("target-state-c", {"state": "RESTING"}),
        ("task-c-first", {"properties": {}}),
        ("connector-c", [1]),
    ],
)
def test_rubbish_is_refused(key: str, value: object) -> None:
    with pytest.raises(InvalidRecordError):
        ConfigState().decode(record(key, value))


def test_statuses_and_topics_come_and_go() -> None:
    state = StatusState()
    running = Status(TaskState.RUNNING, None, "worker:8083", 1)
    state.apply([record(*each) for each in reported("a", running, running)])
    state.apply([record(*topic_used("a", "orders")), record("status-task-a-1", b"{}")])
    assert (state.connectors, state.tasks) == ({"a": running}, {"a": running})
    assert state.topics("a") == ["orders"]
    state.apply([record(*topic_forgotten("a", "orders"))])
    state.apply([record(*each) for each in reported("a", None, None)])
    assert (state.connectors, state.tasks, state.topics("a")) == ({}, {}, [])


def test_an_offset_keeps_the_key_that_it_has() -> None:
    key = b'["a",{"table":"t","protocol":"1"}]'
    partition = {"protocol": "1", "table": "t"}
    identity = json.dumps(partition, sort_keys=True)
    offsets = ConnectorOffsets("a", {identity: StoredOffset(key, partition, {"id": 1})})
    assert offsets.record(partition, {"id": 2}) == (key, b'{"id":2}')
    assert offsets.record({"table": "u"}, None) == (b'["a",{"table":"u"}]', None)
    offsets.note({"table": "u"}, {"id": 3})
    assert offsets.get({"table": "u"}) == {"id": 3}
