"""What a cluster is made of is read once, until its brokers say something else."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from headwater.clients.raw.admin import Node
from headwater.clients.raw.cluster_layout import METADATA_VERSION, Layouts
from headwater.clients.raw.offset_answers import LIST_OFFSETS_VERSION
from headwater.protocol import messages
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.list_offsets import EARLIEST_TIMESTAMP, LATEST_TIMESTAMP, decode_request

BROKERS = [{"node_id": number, "host": f"host-{number}", "port": 9092} for number in (1, 2)]


def encoded(topics: list[dict[str, Any]]) -> memoryview:
    tree = {"brokers": BROKERS, "topics": topics}
    return memoryview(messages.encode_response(ApiKey.METADATA, METADATA_VERSION, tree))


def topic(name: str, leaders: list[int], error: int = ErrorCode.NONE) -> dict[str, Any]:
    partitions = [
        {
            "partition_index": index,
            "leader_id": leader,
            "replica_nodes": [1, 2],
            "isr_nodes": [leader],
        }
        for index, leader in enumerate(leaders)
    ]
    return {"name": name, "error_code": error, "partitions": partitions[::-1]}


@given(
    st.lists(
        st.builds(
            topic,
            st.sampled_from(["a", "b", "hidden"]),
            st.lists(st.integers(-1, 3), max_size=4),
            st.sampled_from([ErrorCode.NONE, ErrorCode.LEADER_NOT_AVAILABLE]),
        ),
        unique_by=lambda each: each["name"],
    )
)
def test_a_layout_says_where_partitions_are_and_what_to_ask(topics: list[dict[str, Any]]) -> None:
    layout = Layouts(lambda name: name != "hidden").read(encoded(topics))
    wanted = [each for each in topics if each["name"] != "hidden"]
    assert layout.nodes == {1: Node(1, "host-1", 9092), 2: Node(2, "host-2", 9092)}
    assert layout.topics == {
        each["name"]: [
            (at["partition_index"], at["leader_id"], (1, 2), (at["leader_id"],))
            for at in each["partitions"][::-1]
        ]
        for each in wanted
        if each["error_code"] == ErrorCode.NONE
    }
    led = {
        (at["leader_id"], each["name"], at["partition_index"])
        for each in wanted
        for at in each["partitions"]
        if at["leader_id"] in (1, 2)
    }
    for time in (EARLIEST_TIMESTAMP, LATEST_TIMESTAMP):
        asked = {
            (node.id, of_topic.name, each.index)
            for node, body in layout.offset_requests[time].items()
            for of_topic in decode_request(LIST_OFFSETS_VERSION, memoryview(body)).topics
            for each in of_topic.partitions
            if (each.current_leader_epoch, each.timestamp) == (-1, time)
        }
        assert asked == led


def test_an_answer_that_is_the_same_is_not_read_again() -> None:
    layouts = Layouts(lambda _: True)
    first = layouts.read(encoded([topic("a", [1, 2])]))
    assert layouts.read(encoded([topic("a", [1, 2])])) is first
    second = layouts.read(encoded([topic("a", [1, 1])]))
    assert [each.leader for each in second.topics["a"]] == [1, 1]
    assert layouts.read(encoded([topic("a", [1, 2])])).topics == first.topics


def test_a_large_cluster_with_three_replicas_each_is_read() -> None:
    partitions = [
        {"partition_index": index, "leader_id": 1, "replica_nodes": ids, "isr_nodes": ids}
        for ids in [[1, 2, 3]]
        for index in range(20_000)
    ]
    layout = Layouts(lambda _: True).read(encoded([{"name": "a", "partitions": partitions}]))
    assert len(layout.topics["a"]) == 20_000
