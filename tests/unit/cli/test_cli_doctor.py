"""What the doctor says of an installation and of a cluster's state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cli.doctor.cluster import judge
from headwater.cli.doctor.installation import look_at_installation
from headwater.metrics.cluster_state import (
    BrokerState,
    ClusterState,
    GroupState,
    LogDirState,
    PartitionState,
    TopicState,
)

if TYPE_CHECKING:
    from pathlib import Path

BROKERS = [BrokerState(1, "a:9092"), BrokerState(2, "b:9092")]


def partition(index: int, leader: int = 1, in_sync: tuple[int, ...] = (1, 2)) -> PartitionState:
    return PartitionState(index, leader, (1, 2), in_sync, 0, 10)


def told(state: ClusterState) -> list[tuple[str, str]]:
    return [(finding.level.value, finding.what) for finding in judge(state)]


def test_a_cluster_that_is_well() -> None:
    group = GroupState("billing", "STABLE", 1, {"orders": {0: 8}}, {})
    disk = LogDirState(1, "/data", 100, 40)
    state = ClusterState(BROKERS, [TopicState("orders", [partition(0)])], [group], [disk])
    assert told(state) == [
        ("ok", "brokers 1 at a:9092, 2 at b:9092; 1 topics with 1 partitions"),
        ("ok", "all partitions have their leaders and replicas"),
        ("ok", "the disk of /data on broker 1 is 60 % full"),
        ("ok", "1 groups with members; furthest behind is billing, by 2 records"),
    ]


def test_a_cluster_that_is_not() -> None:
    lost = [partition(index, leader=-1) for index in range(7)]
    orders = TopicState("orders", [*lost, partition(7, in_sync=(1,))])
    group = GroupState("billing", "EMPTY", 0, {"orders": {7: 8}}, {})
    state = ClusterState(BROKERS, [orders], [group], [LogDirState(2, "/data", 100, 5)])
    assert told(state)[1:] == [
        (
            "problem",
            "without a leader: orders-0, orders-1, orders-2, orders-3, orders-4 and 2 more",
        ),
        ("warning", "replicas out of sync: orders-7"),
        ("warning", "the disk of /data on broker 2 is 95 % full"),
        ("warning", "group billing is 2 records behind, and has no members"),
    ]
    assert all(finding.advice for finding in judge(state) if finding.level != "ok")


def test_an_installation_whose_data_is_yet_to_come(tmp_path: Path) -> None:
    findings = list(look_at_installation(tmp_path / "not" / "yet"))
    assert not [each for each in findings if each.level == "problem"]
    assert any(str(tmp_path) in each.what for each in findings)
