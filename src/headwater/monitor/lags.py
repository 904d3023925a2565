"""How far each group is behind, in records and in seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.monitor.record_times import Position

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from headwater.metrics.cluster_state import ClusterState, GroupState, Owner


class PartitionLag(NamedTuple):
    """How far a group has come in a partition that it has committed an offset of."""

    topic: str
    partition: int
    offset: int
    end: int
    owner: Owner | None

    @property
    def records(self) -> int:
        """How many offsets it is behind; none if the log was cut off below its offset."""
        return max(0, self.end - self.offset)

    @property
    def position(self) -> Position:
        """Where it goes on."""
        return Position(self.topic, self.partition, self.offset)

    def seconds(self, times: Mapping[Position, int | None], now_s: float) -> float | None:
        """Return the age of the first record that it has not read; None if that is not known.

        A clock that is ahead of ours makes it 0, and not less.
        """
        if not self.records:
            return 0.0
        if self.position not in times:
            return None
        written = times[self.position]
        return 0.0 if written is None else max(0.0, now_s - written / 1000)


def lags_of(cluster: ClusterState) -> dict[str, list[PartitionLag]]:
    """Return the lags of all groups, by topic and partition; topics that are gone are left out."""
    ends = {
        (topic.name, partition.index): partition.high_watermark
        for topic in cluster.topics
        for partition in topic.partitions
    }
    return {group.group_id: list(_lags(group, ends)) for group in cluster.groups}


def _lags(group: GroupState, ends: Mapping[tuple[str, int], int | None]) -> Iterator[PartitionLag]:
    for topic, partitions in sorted(group.offsets.items()):
        for index, offset in sorted(partitions.items()):
            end = ends.get((topic, index))
            if end is not None:
                yield PartitionLag(topic, index, offset, end, group.owners.get((topic, index)))
