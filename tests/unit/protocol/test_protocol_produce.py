from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.protocol.kio_oracle import FEW, plain, requests, responses, versions, write

from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.leadership import CurrentLeader, NodeEndpoint
from headwater.protocol.primitives import MAX_ITEMS, ProtocolError, write_uvarint
from headwater.protocol.produce import (
    PartitionProduceResult,
    RecordError,
    decode_request,
    encode_response,
)

EVERY_VERSION = pytest.mark.parametrize(("key", "version"), versions(ApiKey.PRODUCE))


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_reads_any_request(key: ApiKey, version: int, data: st.DataObject) -> None:
    entity = data.draw(requests(key, version))
    tree = plain(entity)
    request = decode_request(version, memoryview(b"header" + write(entity)), 6)
    assert request.transactional_id == tree["transactional_id"]
    assert request.acks == tree["acks"]
    assert request.timeout_ms == tree["timeout"]
    assert [topic._asdict() for topic in request.topics] == [
        {
            "name": topic.get("name"),
            "topic_id": topic.get("topic_id"),
            "partitions": [
                (partition["index"], partition["records"]) for partition in topic["partition_data"]
            ],
        }
        for topic in tree["topic_data"]
    ]


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_writes_any_response(key: ApiKey, version: int, data: st.DataObject) -> None:
    entity = data.draw(responses(key, version))
    tree = plain(entity)
    topics = [
        (
            topic.get("name"),
            topic.get("topic_id"),
            [_result(partition) for partition in topic["partition_responses"]],
        )
        for topic in tree["responses"]
    ]
    endpoints = [NodeEndpoint(**endpoint) for endpoint in tree.get("node_endpoints", ())]
    encoded = encode_response(version, topics, tree["throttle_time"], endpoints)
    assert encoded == write(entity)


def _result(tree: dict[str, Any]) -> PartitionProduceResult:
    leader = CurrentLeader(**tree.get("current_leader", {"leader_id": -1, "leader_epoch": -1}))
    append_time = tree["log_append_time"]
    return PartitionProduceResult(
        tree["index"],
        tree["error_code"],
        tree["base_offset"],
        -1 if append_time is None else append_time,
        tree.get("log_start_offset", -1),
        [
            RecordError(error["batch_index"], error["batch_index_error_message"])
            for error in tree.get("record_errors", ())
        ],
        tree.get("error_message"),
        None if leader == (-1, -1) else leader,
    )


@EVERY_VERSION
def test_one_answer_does_for_all_versions(key: ApiKey, version: int) -> None:
    result = PartitionProduceResult(
        0,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        record_errors=[RecordError(1, "bad")],
        error_message="No.",
        current_leader=CurrentLeader(2, 3),
    )
    endpoints = [NodeEndpoint(2, "localhost", 9092)]
    assert encode_response(version, [("orders", bytes(16), [result])], 0, endpoints)


def test_records_are_a_writable_slice_of_the_frame() -> None:
    frame = bytearray(
        struct.pack(">hhiih6sii", -1, -1, 1000, 1, 6, b"orders", 1, 0)
        + struct.pack(">i3s", 3, b"abc")
    )
    request = decode_request(3, memoryview(frame))
    _, records = request.topics[0].partitions[0]
    assert records is not None
    records[0] = ord("z")
    assert bytes(frame[-3:]) == b"zbc"


def test_a_request_of_nothing_but_topics_is_refused() -> None:
    count = MAX_ITEMS + 1
    topics = write_uvarint(count + 1) + b"\x01\x01\x00" * count
    body = b"\x00" + struct.pack(">hi", -1, 1000) + topics + b"\x00"
    with pytest.raises(ProtocolError, match=f"topic_data: {count} topics"):
        decode_request(9, memoryview(body))


def test_a_request_of_nothing_but_partitions_is_refused() -> None:
    half = MAX_ITEMS // 2 + 1
    topic = b"\x01" + write_uvarint(half + 1) + (b"\x00\x00\x00\x00\x00\x00" * half) + b"\x00"
    body = b"\x00" + struct.pack(">hi", -1, 1000) + b"\x03" + topic * 2 + b"\x00"
    with pytest.raises(ProtocolError, match=r"partition_data: over \d+ in one request"):
        decode_request(9, memoryview(body))
