"""Looks at a cluster: brokers, partitions, disks, and groups that nobody reads for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.cli.doctor.finding import Finding, Level
from headwater.clients.errors import ClientError
from headwater.monitor.lags import lags_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from headwater.clients import ClusterAccess
    from headwater.metrics.cluster_state import ClusterState, PartitionState

AREA = "cluster"

_FULL_PERCENT = 90
_SHOWN = 5


def look_at_cluster(access: ClusterAccess, *, is_asked_for: bool) -> Iterator[Finding]:
    """Return how a cluster is, or why it cannot be asked; the usual one need not be there."""
    from headwater.clients.raw.cluster_reader import ClusterReader

    reader = ClusterReader(access)
    try:
        state = reader.read()
    except ClientError as failure:
        advice = "Start one with: headwater up, or name another with --bootstrap-server"
        level = Level.PROBLEM if is_asked_for else Level.NOTE
        yield Finding(AREA, level, str(failure), advice)
        return
    finally:
        reader.close()
    yield from judge(state)


def judge(state: ClusterState) -> Iterator[Finding]:
    """Return what is to be said of a cluster's state."""
    partitions = sum(len(topic.partitions) for topic in state.topics)
    brokers = ", ".join(f"{each.id} at {each.address}" for each in state.brokers)
    text = f"brokers {brokers}; {len(state.topics)} topics with {partitions} partitions"
    yield Finding(AREA, Level.OK, text)
    yield from _partitions(state)
    yield from _disks(state)
    yield from _groups(state)


def _partitions(state: ClusterState) -> Iterator[Finding]:
    def named(wanted: Sequence[tuple[str, PartitionState]]) -> str:
        some = ", ".join(f"{topic}-{partition.index}" for topic, partition in wanted[:_SHOWN])
        return f"{some} and {len(wanted) - _SHOWN} more" if wanted[_SHOWN:] else some

    every = [(topic.name, each) for topic in state.topics for each in topic.partitions]
    offline = [each for each in every if each[1].leader < 0]
    lacking = [
        (topic, each)
        for topic, each in every
        if each.leader >= 0 and len(each.in_sync) < len(each.replicas)
    ]
    if offline:
        advice = "Nobody can read or write them: start the brokers that have their replicas"
        yield Finding(AREA, Level.PROBLEM, f"without a leader: {named(offline)}", advice)
    if lacking:
        advice = "A broker is down or behind: headwater topics describe TOPIC says which"
        yield Finding(AREA, Level.WARNING, f"replicas out of sync: {named(lacking)}", advice)
    if every and not offline and not lacking:
        yield Finding(AREA, Level.OK, "all partitions have their leaders and replicas")


def _disks(state: ClusterState) -> Iterator[Finding]:
    for place in state.log_dirs:
        used = 100 * (1 - place.usable_bytes / place.total_bytes) if place.total_bytes else 100
        text = f"the disk of {place.path} on broker {place.broker} is {used:.0f} % full"
        if used >= _FULL_PERCENT:
            advice = "Make room, or keep records for less long: retention.ms, retention.bytes"
            yield Finding(AREA, Level.WARNING, text, advice)
        else:
            yield Finding(AREA, Level.OK, text)


def _groups(state: ClusterState) -> Iterator[Finding]:
    lags = {name: sum(lag.records for lag in each) for name, each in lags_of(state).items()}
    for group in state.groups:
        behind = lags.get(group.group_id, 0)
        if behind and not group.members:
            text = f"group {group.group_id} is {behind} records behind, and has no members"
            advice = "Start its consumers; or headwater groups delete, if it is not used any more"
            yield Finding(AREA, Level.WARNING, text, advice)
    read = [each for each in state.groups if each.members]
    if read:
        most = max(read, key=lambda each: lags.get(each.group_id, 0))
        text = f"{len(read)} groups with members; furthest behind is {most.group_id}"
        yield Finding(AREA, Level.OK, f"{text}, by {lags.get(most.group_id, 0)} records")
