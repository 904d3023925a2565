from __future__ import annotations

import struct
from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.protocol.kio_oracle import FEW, plain, requests, responses, versions, write

from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.fetch import (
    AbortedTransaction,
    DivergingEpoch,
    PartitionFetched,
    decode_request,
    encode_response,
)
from headwater.protocol.leadership import CurrentLeader, NodeEndpoint
from headwater.protocol.primitives import MAX_ITEMS, ProtocolError, write_uvarint

EVERY_VERSION = pytest.mark.parametrize(("key", "version"), versions(ApiKey.FETCH))


class Region:
    """Stands for a region of a file: it has a length, and its bytes are nobody's business."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __len__(self) -> int:
        return len(self.content)


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_reads_any_request(key: ApiKey, version: int, data: st.DataObject) -> None:
    entity = data.draw(requests(key, version))
    tree = plain(entity)
    request = decode_request(version, memoryview(b"header" + write(entity)), 6)
    replica = tree.get("replica_state", {"replica_id": tree.get("replica_id"), "replica_epoch": -1})
    assert request._replace(topics=[], forgotten=[])._asdict() == {
        "max_wait_ms": tree["max_wait"],
        "min_bytes": tree["min_bytes"],
        "max_bytes": tree["max_bytes"],
        "isolation_level": tree["isolation_level"],
        "session_id": tree.get("session_id", 0),
        "session_epoch": tree.get("session_epoch", -1),
        "topics": [],
        "forgotten": [],
        "rack_id": tree.get("rack_id", ""),
        "replica_id": replica["replica_id"],
        "replica_epoch": replica["replica_epoch"],
        "cluster_id": tree.get("cluster_id"),
    }
    assert request.topics == [
        (
            topic.get("topic"),
            topic.get("topic_id"),
            [
                (
                    partition["partition"],
                    partition.get("current_leader_epoch", -1),
                    partition["fetch_offset"],
                    partition.get("last_fetched_epoch", -1),
                    partition.get("log_start_offset", -1),
                    partition["partition_max_bytes"],
                )
                for partition in topic["partitions"]
            ],
        )
        for topic in tree["topics"]
    ]
    assert request.forgotten == [
        (topic.get("topic"), topic.get("topic_id"), topic["partitions"])
        for topic in tree.get("forgotten_topics_data", ())
    ]


@EVERY_VERSION
@FEW
@given(data=st.data())
def test_writes_any_response(key: ApiKey, version: int, data: st.DataObject) -> None:
    # Snapshots belong to Kafka's controllers, and null records to brokers of long ago.
    entity = data.draw(responses(key, version).map(_without_snapshots_and_nulls))
    tree = plain(entity)
    topics = [
        (
            topic.get("topic"),
            topic.get("topic_id"),
            [_fetched(partition) for partition in topic["partitions"]],
        )
        for topic in tree["responses"]
    ]
    parts = encode_response(
        version,
        tree["throttle_time"],
        tree.get("error_code", 0),
        tree.get("session_id", 0),
        topics,
        [NodeEndpoint(**endpoint) for endpoint in tree.get("node_endpoints", ())],
    )
    assert _flatten(parts) == write(entity)


def _without_snapshots_and_nulls(entity: Any) -> Any:
    def clean(partition: Any) -> Any:
        defaults = {field.name: field.default for field in fields(partition)}
        changes = {"records": partition.records or b""}
        if "snapshot_id" in defaults:
            changes["snapshot_id"] = defaults["snapshot_id"]
        return replace(partition, **changes)

    return replace(
        entity,
        responses=tuple(
            replace(topic, partitions=tuple(map(clean, topic.partitions)))
            for topic in entity.responses
        ),
    )


def _fetched(tree: dict[str, Any]) -> PartitionFetched[Region]:
    diverging = DivergingEpoch(**tree.get("diverging_epoch", {"epoch": -1, "end_offset": -1}))
    leader = CurrentLeader(**tree.get("current_leader", {"leader_id": -1, "leader_epoch": -1}))
    aborted = tree["aborted_transactions"]
    return PartitionFetched(
        tree["partition_index"],
        tree["error_code"],
        tree["high_watermark"],
        tree["last_stable_offset"],
        tree.get("log_start_offset", -1),
        Region(tree["records"]),
        None if aborted is None else [AbortedTransaction(**each) for each in aborted],
        tree.get("preferred_read_replica", -1),
        None if diverging == (-1, -1) else diverging,
        None if leader == (-1, -1) else leader,
    )


def _flatten(parts: list[bytes | Region]) -> bytes:
    return b"".join(part if isinstance(part, bytes) else part.content for part in parts)


@EVERY_VERSION
def test_records_stay_what_they_are(key: ApiKey, version: int) -> None:
    first, second, nothing = Region(b"first"), Region(b"second"), Region(b"")
    partitions = [
        PartitionFetched(index, 0, 1, 1, 0, records)
        for index, records in enumerate([first, nothing, second])
    ]
    parts = encode_response(version, 0, 0, 0, [("orders", bytes(range(16)), partitions)])
    assert [part for part in parts if isinstance(part, Region)] == [first, second]
    assert all(len(part) for part in parts)


@EVERY_VERSION
def test_no_records_are_empty_and_not_null(key: ApiKey, version: int) -> None:
    answer = [("orders", bytes(16), [PartitionFetched[bytes](0, ErrorCode.OFFSET_OUT_OF_RANGE)])]
    (body,) = encode_response(version, 0, 0, 0, answer)
    # What follows the length of the records: tagged fields of partition, topic and response.
    empty = b"\x01" + b"\x00" * 3 if version >= 12 else b"\x00\x00\x00\x00"
    null = b"\x00" + b"\x00" * 3 if version >= 12 else b"\xff\xff\xff\xff"
    assert body.endswith(empty)
    assert not body.endswith(b"\xff" + null)


def test_a_request_of_nothing_but_topics_is_refused() -> None:
    count = MAX_ITEMS + 1
    topics = write_uvarint(count + 1) + b"\x01\x01\x00" * count
    limits = struct.pack(">iiiibii", -1, 500, 1, 1, 0, 0, -1)
    with pytest.raises(ProtocolError, match=f"topics: {count} topics"):
        decode_request(12, memoryview(limits + topics + b"\x01\x01\x00"))
    with pytest.raises(ProtocolError, match=f"forgotten_topics_data: {count} topics"):
        decode_request(12, memoryview(limits + b"\x01" + topics + b"\x01\x00"))


def test_a_request_of_nothing_but_partitions_is_refused() -> None:
    half = MAX_ITEMS // 2 + 1
    limits = struct.pack(">iiiibii", -1, 500, 1, 1, 0, 0, -1)
    wanted = b"\x01" + write_uvarint(half + 1) + bytes(33 * half) + b"\x00"
    with pytest.raises(ProtocolError, match=r"topics\.partitions: over"):
        decode_request(12, memoryview(limits + b"\x03" + wanted * 2 + b"\x01\x01\x00"))
    forgotten = b"\x01" + write_uvarint(half + 1) + bytes(4 * half) + b"\x00"
    with pytest.raises(ProtocolError, match=r"forgotten_topics_data\.partitions: over"):
        decode_request(12, memoryview(limits + b"\x01" + b"\x03" + forgotten * 2 + b"\x01\x00"))
