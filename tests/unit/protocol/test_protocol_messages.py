from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.index import load_response_schema
from tests.unit.protocol.kio_oracle import (
    FEW,
    plain,
    read,
    requests,
    responses,
    versions,
    write,
)

from headwater.protocol import messages
from headwater.protocol.api_keys import SERVED, ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.primitives import (
    MAX_ITEMS,
    MAX_ITEMS_ANSWERED,
    ProtocolError,
    write_uvarint,
)

EVERY_VERSION = pytest.mark.parametrize(("key", "version"), versions(*SERVED))
TOPIC_ID = bytes(range(16))


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_reads_and_writes_any_request(key: ApiKey, version: int, data: st.DataObject) -> None:
    entity = data.draw(requests(key, version))
    encoded = write(entity)
    assert messages.decode_request(key, version, memoryview(b"header" + encoded), 6) == entity
    assert messages.encode_request(key, version, plain(entity)) == encoded


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_reads_and_writes_any_response(key: ApiKey, version: int, data: st.DataObject) -> None:
    entity = data.draw(responses(key, version))
    encoded = write(entity)
    assert messages.decode_response(key, version, memoryview(b"header" + encoded), 6) == entity
    assert messages.encode_response(key, version, plain(entity)) == encoded


@EVERY_VERSION
def test_everything_has_a_default(key: ApiKey, version: int) -> None:
    encoded = messages.encode_response(key, version, {})
    answer = plain(read(load_response_schema(key, version), encoded))
    for value in answer.values():
        assert value in (0, 1, -1, -(1 << 31), "", b"", None, [])


def test_one_tree_does_for_all_versions() -> None:
    tree = {
        "throttle_time_ms": 7,
        "topics": [
            {
                "name": "orders",
                "topic_id": TOPIC_ID,
                "error_code": ErrorCode.NONE,
                "num_partitions": 3,
                "replication_factor": 1,
                "configs": [{"name": "retention.ms", "value": "5"}],
            }
        ],
    }
    for version in range(2, 8):
        encoded = messages.encode_response(ApiKey.CREATE_TOPICS, version, tree)
        answer = messages.decode_response(ApiKey.CREATE_TOPICS, version, memoryview(encoded))
        (topic,) = answer.topics
        assert answer.throttle_time == timedelta(milliseconds=7)
        assert topic.name == "orders"
        assert topic.error_message is None
        assert messages.field(topic, "num_partitions", 3) == 3
        assert messages.field(topic, "topic_id") == (TOPIC_ID if version >= 7 else None)


@pytest.mark.parametrize("topic_id", [TOPIC_ID, UUID(bytes=TOPIC_ID)])
def test_ids_may_be_bytes_or_uuids(topic_id: object) -> None:
    tree = {"topics": [{"name": "x", "topic_id": topic_id}]}
    assert TOPIC_ID in messages.encode_response(ApiKey.CREATE_TOPICS, 7, tree)


@pytest.mark.parametrize("throttle", [{"throttle_time": 7}, {"throttle_time_ms": 7}])
def test_durations_go_by_either_name(throttle: dict[str, Any]) -> None:
    encoded = messages.encode_response(ApiKey.CREATE_TOPICS, 7, throttle)
    assert encoded.startswith(b"\x00\x00\x00\x07")
    later = {"throttle_time": timedelta(milliseconds=7)}
    assert messages.encode_response(ApiKey.CREATE_TOPICS, 7, later) == encoded


@pytest.mark.parametrize(
    ("tree", "complaint"),
    [
        ({"topic": []}, "CreateTopicsResponse has no field 'topic' in any version"),
        ({"topics": [{"nam": "x"}]}, r"CreateTopicsResponse\.topics has no field 'nam'"),
        ({"topics": [{"name": 5}]}, r"CreateTopicsResponse\.topics\.name can't be 5"),
        ({"topics": [{"name": None}]}, r"CreateTopicsResponse\.topics\.name can't be None"),
        ({"topics": None}, r"CreateTopicsResponse\.topics can't be None: an array is needed"),
        ({"topics": [5]}, r"CreateTopicsResponse\.topics can't be"),
        ({"throttle_time_ms": 1 << 31}, r"throttle_time can't be 2147483648"),
        ({"topics": [{"topic_id": b"short"}]}, r"topics\.topic_id can't be b'short'"),
    ],
)
def test_a_tree_with_a_mistake_says_where(tree: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        messages.encode_response(ApiKey.CREATE_TOPICS, 7, tree)


def test_fields_are_read_as_plain_values() -> None:
    tree = {"topics": [{"name": None, "topic_id": TOPIC_ID}], "timeout_ms": 30_000}
    frame = memoryview(messages.encode_request(ApiKey.DELETE_TOPICS, 6, tree))
    request = messages.decode_request(ApiKey.DELETE_TOPICS, 6, frame)
    assert messages.field(request, "timeout_ms") == messages.field(request, "timeout") == 30_000
    assert messages.field(request.topics[0], "topic_id") == TOPIC_ID
    assert messages.field(request, "topic_names") is None
    assert messages.field(request, "topic_names", ()) == ()


def test_the_zero_id_is_none() -> None:
    frame = memoryview(
        messages.encode_request(ApiKey.DELETE_TOPICS, 6, {"topics": [{"name": "orders"}]})
    )
    (topic,) = messages.decode_request(ApiKey.DELETE_TOPICS, 6, frame).topics
    assert messages.field(topic, "topic_id", "absent") is None


@pytest.mark.parametrize(
    ("version", "body", "complaint"),
    [
        (7, b"\x00" * 10, "topics: it is null and may not be"),
        (7, b"\x02\x02x" + bytes(14), r"topics\.assignments: it is null and may not be"),
        (4, b"\xff\xff\xff\xfb" + bytes(10), "topics: its length is -5"),
        (4, b"\x7f\xff\xff\xff" + bytes(10), "topics: 2147483647 items cannot be in the 10"),
        (7, b"", "topics: the frame ends within a varint"),
        (7, b"\x02\x03\xff\xff" + bytes(20), r"topics\.name: it is not UTF-8"),
    ],
)
def test_malformed_requests_are_refused(version: int, body: bytes, complaint: str) -> None:
    with pytest.raises(ProtocolError, match=rf"^CreateTopicsRequest\.{complaint}"):
        messages.decode_request(ApiKey.CREATE_TOPICS, version, memoryview(body))


def test_a_request_of_nothing_but_items_is_refused() -> None:
    half = MAX_ITEMS // 2 + 1
    topic = {"name": "x", "partition_indexes": range(half)}
    request = {"topics": [topic, topic], "timeout_ms": 0}
    body = messages.encode_request(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, request)
    with pytest.raises(ProtocolError, match=r"partition_indexes: with it, the message has over"):
        messages.decode_request(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, memoryview(body))


def test_an_answer_of_nothing_but_items_is_refused() -> None:
    items = MAX_ITEMS_ANSWERED + 1
    body = bytes(7) + write_uvarint(items + 1) + bytes(3 * items)
    with pytest.raises(ProtocolError, match=f"topics: with it, the message has over {items - 1}"):
        messages.decode_response(ApiKey.LIST_PARTITION_REASSIGNMENTS, 0, memoryview(body))


def test_kio_can_be_loaded_ahead() -> None:
    messages.preload()
