"""Groups of consumers: who is in them, how far they are behind, and moving them elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from headwater.clients.errors import ClientError
from headwater.clients.group_changes import delete_group, move_group
from headwater.clients.offset_plan import make_plan
from headwater.console.model.groups.lag_history import LagHistory
from headwater.console.model.paging import Page, Wanted, page_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.clients.offset_plan import Planned, Target
    from headwater.console.model.cluster import Cluster, Look
    from headwater.console.model.groups.lag_history import LagPoint
    from headwater.console.model.monitor import GroupVerdict, Monitor
    from headwater.metrics.cluster_state import GroupState, Owner, ShareGroupState


CLASSIC, SHARE = "classic", "share"


@dataclass(frozen=True)
class GroupRow:
    """A group in a list."""

    name: str
    state: str
    members: int
    topics: tuple[str, ...]
    lag: int | None
    kind: str = CLASSIC
    """classic, consumer or share."""


@dataclass(frozen=True)
class PartitionLag:
    """How far a group is in a partition."""

    topic: str
    partition: int
    offset: int | None
    end: int | None
    owner: Owner | None
    seconds: float | None = None
    status: str | None = None

    @property
    def lag(self) -> int | None:
        """Records that it has not read yet."""
        known = self.offset is not None and self.end is not None
        return max(self.end - self.offset, 0) if known else None  # type: ignore[operator]


@dataclass(frozen=True)
class GroupDetail:
    """A group with all of its partitions."""

    row: GroupRow
    partitions: Sequence[PartitionLag]
    verdict: GroupVerdict | None
    history: Sequence[LagPoint] = ()


class SharePartitionLag(NamedTuple):
    """How far a share group is in a partition, which several of its members may read."""

    topic: str
    partition: int
    start_offset: int | None
    end: int | None
    lag: int | None
    readers: Sequence[Owner]


@dataclass(frozen=True)
class ShareGroupDetail:
    """A share group with all of its partitions."""

    row: GroupRow
    partitions: Sequence[SharePartitionLag]
    history: Sequence[LagPoint] = ()


class Groups:
    """All methods block."""

    def __init__(self, cluster: Cluster, monitor: Monitor | None) -> None:
        self._cluster = cluster
        self._monitor = monitor
        self._history = LagHistory()

    def page(self, wanted: Wanted, topic: str = "") -> Page[GroupRow]:
        """Return a page of the list: of all groups, or of those that read a topic."""
        rows = [row for row in self.all() if not topic or topic in row.topics]
        columns: dict[str, Any] = {
            "name": lambda row: row.name,
            "state": lambda row: row.state,
            "members": lambda row: row.members,
            "lag": lambda row: row.lag,
            "kind": lambda row: row.kind,
        }
        return page_of(rows, wanted, lambda row: f"{row.name} {row.kind}", columns)

    def all(self) -> list[GroupRow]:
        """Return all groups."""
        look = self._cluster.look()
        rows = [_row(group, look) for group in look.state.groups]
        rows += [_share_row(group) for group in look.state.share_groups]
        self._history.note(look.taken, {row.name: row.lag for row in rows if row.lag is not None})
        return rows

    def detail(self, name: str) -> GroupDetail:
        """Return a group; raises ClientError."""
        self.all()
        look = self._cluster.look()
        group = look.groups.get(name) or self._cluster.look_again().groups.get(name)
        if group is None:
            raise ClientError(f"there is no group '{name}'")
        verdict = None if self._monitor is None else self._monitor.verdict(name)
        told = {} if verdict is None else verdict.partitions
        places = sorted({*group.owners, *_committed(group)})
        partitions = []
        for place in places:
            of_monitor = told.get(place)
            partitions.append(
                PartitionLag(
                    *place,
                    group.offsets.get(place[0], {}).get(place[1]),
                    _end(look, *place),
                    group.owners.get(place),
                    None if of_monitor is None else of_monitor.seconds,
                    None if of_monitor is None else of_monitor.status,
                )
            )
        return GroupDetail(_row(group, look), partitions, verdict, self._history.of(name))

    def lags(self, name: str) -> dict[str, int]:
        """Return how far a group is behind in each topic; nothing where there is no such group."""
        look = self._cluster.look()
        group = look.groups.get(name)
        lags: dict[str, int] = {}
        committed = {} if group is None else _committed(group)
        for (topic, index), offset in committed.items():
            end = _end(look, topic, index)
            if end is not None:
                lags[topic] = lags.get(topic, 0) + max(end - offset, 0)
        return lags

    def share_detail(self, name: str) -> ShareGroupDetail:
        """Return a share group; raises ClientError."""
        self.all()
        look = self._cluster.look()
        group = look.share_groups.get(name) or self._cluster.look_again().share_groups.get(name)
        if group is None:
            raise ClientError(f"there is no share group '{name}'")
        partitions = [
            SharePartitionLag(
                *place, each.start_offset, _end(look, *place), each.lag, tuple(each.readers)
            )
            for place, each in group.partitions.items()
        ]
        return ShareGroupDetail(_share_row(group), partitions, self._history.of(name))

    def plan(self, name: str, topic: str, target: Target) -> list[Planned]:
        """Return where a group would be, in a topic or, with "", in all of its topics."""
        group = self._cluster.look_again().groups.get(name)
        if group is None:
            raise ClientError(f"there is no group '{name}'")
        if group.members:
            raise ClientError(
                f"the group '{name}' has {group.members} members, which would go on where they "
                "are. Stop them first"
            )
        current = _committed(group)
        places = [place for place in current if topic in ("", place[0])]
        if topic and not places:
            places = [(topic, each.index) for each in self._cluster.look().topics[topic].partitions]
        return make_plan(
            self._cluster.connection, places, current, target, {}, int(time.time() * 1000)
        )

    def move(self, name: str, plan: Sequence[Planned]) -> None:
        """Move a group to where a plan says."""
        move_group(self._cluster.connection, name, plan)
        self._cluster.changed()

    def delete(self, name: str) -> None:
        """Delete a group that has no members, with its offsets."""
        delete_group(self._cluster.connection, name)
        self._cluster.changed()


def _committed(group: GroupState) -> dict[tuple[str, int], int]:
    return {
        (topic, index): offset
        for topic, offsets in group.offsets.items()
        for index, offset in offsets.items()
    }


def _row(group: GroupState, look: Look) -> GroupRow:
    topics = sorted({*group.offsets, *(topic for topic, _ in group.owners)})
    return GroupRow(
        group.group_id,
        group.state,
        group.members,
        tuple(topics),
        _lag(group, look),
        group.kind or CLASSIC,
    )


def _share_row(group: ShareGroupState) -> GroupRow:
    topics = sorted({topic for topic, _ in group.partitions})
    lags = [each.lag for each in group.partitions.values() if each.lag is not None]
    lag = sum(lags) if lags else None
    return GroupRow(group.group_id, group.state, group.members, tuple(topics), lag, SHARE)


def _lag(group: GroupState, look: Look) -> int | None:
    lags = [
        max(end - offset, 0)
        for topic, offsets in group.offsets.items()
        for index, offset in offsets.items()
        if (end := _end(look, topic, index)) is not None
    ]
    return sum(lags) if lags else None


def _end(look: Look, topic: str, index: int) -> int | None:
    state = look.topics.get(topic)
    if state is None or index >= len(state.partitions):
        return None
    return state.partitions[index].high_watermark
