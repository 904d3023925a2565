from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.protocol.kio_oracle import FEW, plain, requests, responses, versions, write

from headwater.protocol.api_keys import ApiKey
from headwater.protocol.metadata import (
    UNKNOWN_OPERATIONS,
    BrokerMetadata,
    MetadataRequestTopic,
    PartitionMetadata,
    TopicMetadata,
    TopicPartitions,
    decode_request,
    encode_response,
)
from headwater.protocol.primitives import MAX_ITEMS, ZERO_UUID, ProtocolError

EVERY_VERSION = pytest.mark.parametrize(("key", "version"), versions(ApiKey.METADATA))


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_reads_any_request(key: ApiKey, version: int, data: st.DataObject) -> None:
    entity = data.draw(requests(key, version))
    tree = plain(entity)
    request = decode_request(version, memoryview(b"header" + write(entity)), 6)
    if tree["topics"] is None or (version == 0 and not tree["topics"]):
        assert request.topics is None
    else:
        assert request.topics == [
            (topic["name"], _id(topic.get("topic_id"))) for topic in tree["topics"]
        ]
    assert request[1:] == (
        tree.get("allow_auto_topic_creation", True),
        tree.get("include_cluster_authorized_operations", False),
        tree.get("include_topic_authorized_operations", False),
    )


@EVERY_VERSION
@FEW
@given(data=st.data(), is_kept=st.booleans())
def test_writes_any_response(key: ApiKey, version: int, data: st.DataObject, is_kept: bool) -> None:
    entity = data.draw(responses(key, version))
    tree = plain(entity)
    encoded = encode_response(
        version,
        [BrokerMetadata(**broker) for broker in tree["brokers"]],
        tree.get("cluster_id"),
        tree.get("controller_id", -1),
        [_topic(topic, is_kept) for topic in tree["topics"]],
        throttle_ms=tree.get("throttle_time", 0),
        cluster_authorized_operations=tree.get("cluster_authorized_operations", UNKNOWN_OPERATIONS),
        error_code=tree.get("error_code", 0),
    )
    assert encoded == write(entity)


def _id(raw: bytes | None) -> bytes | None:
    return None if raw == ZERO_UUID else raw


def _topic(tree: dict[str, Any], is_kept: bool) -> TopicMetadata:
    partitions = [
        PartitionMetadata(
            partition["partition_index"],
            partition["leader_id"],
            partition.get("leader_epoch", -1),
            partition["replica_nodes"],
            partition["isr_nodes"],
            partition.get("offline_replicas", ()),
            partition["error_code"],
        )
        for partition in tree["partitions"]
    ]
    return TopicMetadata(
        tree["error_code"],
        tree["name"],
        tree.get("topic_id"),
        tree.get("is_internal", False),
        TopicPartitions(partitions) if is_kept else partitions,
        tree.get("topic_authorized_operations", UNKNOWN_OPERATIONS),
    )


def test_kept_partitions_are_the_same_in_every_version() -> None:
    partitions = [PartitionMetadata(index, 1, 5, [1], [1]) for index in range(3)]
    kept = TopicPartitions(partitions)
    # Twice, and in both directions, so that what is remembered for one version meets the next.
    for version in [*range(14), *reversed(range(14))]:
        fresh = TopicMetadata(0, "orders", bytes(16), False, partitions)
        assert encode_response(version, [], None, 1, [fresh]) == encode_response(
            version, [], None, 1, [fresh._replace(partitions=kept)]
        )


def test_no_topics_meant_all_of_them_in_the_first_version() -> None:
    assert decode_request(0, memoryview(struct.pack(">i", 0))).topics is None
    assert decode_request(1, memoryview(struct.pack(">i", 0))).topics == []
    assert decode_request(1, memoryview(struct.pack(">i", -1))).topics is None


def test_a_topic_may_be_asked_for_by_its_id() -> None:
    topic_id = bytes(range(16))
    body = b"\x02" + topic_id + b"\x00\x00" + b"\x01\x00\x00"
    assert decode_request(12, memoryview(body)).topics == [MetadataRequestTopic(None, topic_id)]


def test_a_request_of_nothing_but_topics_is_refused() -> None:
    count = MAX_ITEMS + 1
    with pytest.raises(ProtocolError, match=f"topics: {count} topics"):
        decode_request(1, memoryview(struct.pack(">i", count) + bytes(2 * count)))
