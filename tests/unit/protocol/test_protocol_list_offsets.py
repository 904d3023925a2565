from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.protocol.kio_oracle import FEW, plain, requests, responses, versions, write

from headwater.protocol.api_keys import ApiKey
from headwater.protocol.list_offsets import PartitionOffset, decode_request, encode_response
from headwater.protocol.primitives import MAX_ITEMS, ProtocolError

EVERY_VERSION = pytest.mark.parametrize(("key", "version"), versions(ApiKey.LIST_OFFSETS))


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_reads_any_request(key: ApiKey, version: int, data: st.DataObject) -> None:
    entity = data.draw(requests(key, version))
    tree = plain(entity)
    assert decode_request(version, memoryview(b"header" + write(entity)), 6) == (
        tree["replica_id"],
        tree.get("isolation_level", 0),
        [
            (
                topic["name"],
                [
                    (
                        partition["partition_index"],
                        partition.get("current_leader_epoch", -1),
                        partition["timestamp"],
                    )
                    for partition in topic["partitions"]
                ],
            )
            for topic in tree["topics"]
        ],
        tree.get("timeout", 0),
    )


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_writes_any_response(key: ApiKey, version: int, data: st.DataObject) -> None:
    entity = data.draw(responses(key, version))
    tree = plain(entity)
    topics = [
        (
            topic["name"],
            [
                PartitionOffset(
                    partition["partition_index"],
                    partition["error_code"],
                    partition["timestamp"],
                    partition["offset"],
                    partition.get("leader_epoch", -1),
                )
                for partition in topic["partitions"]
            ],
        )
        for topic in tree["topics"]
    ]
    assert encode_response(version, topics, tree.get("throttle_time", 0)) == write(entity)


def test_a_request_of_nothing_but_topics_is_refused() -> None:
    count = MAX_ITEMS + 1
    with pytest.raises(ProtocolError, match=f"topics: {count} topics"):
        decode_request(1, memoryview(struct.pack(">ii", -1, count) + bytes(6 * count)))


def test_a_request_of_nothing_but_partitions_is_refused() -> None:
    half = MAX_ITEMS // 2 + 1
    topic = struct.pack(">hi", 0, half) + bytes(12 * half)
    with pytest.raises(ProtocolError, match=r"topics\.partitions: over"):
        decode_request(1, memoryview(struct.pack(">ii", -1, 2) + topic * 2))
