"""The cluster: what it looks like now, how fast it grows, and how much its topics take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.clients.connection import REQUEST_WITHIN_S, Connection
from headwater.clients.errors import ClientError
from headwater.clients.raw.admin import RawAdmin
from headwater.clients.raw.cluster_reader import ClusterReader
from headwater.clients.raw.log_dirs import LogDirectory, log_directories
from headwater.console.model.shared_answer import SharedAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.clients import ClusterAccess
    from headwater.metrics.cluster_state import (
        ClusterState,
        GroupState,
        ShareGroupState,
        TopicState,
    )

# A look costs brokers and us something; several pages and tabs share one. A large cluster is looked
# at less often: looking takes no more than a tenth of one core.
LOOK_AFTER_S = 2.0
_REST_FACTOR = 10
SIZES_AFTER_S = 20.0
# What is older is not shown while a new look is on its way.
_STALE_S = 30.0
# A look that takes less is waited for.
_QUICK_S = 0.2
_QUICK_AT_FIRST_S = 1.0
# So long does somebody wait for the first look at a cluster, and for one that is new.
WAIT_S = 5.0


@dataclass(frozen=True)
class Look:
    """The cluster at one moment."""

    state: ClusterState
    taken: float
    """By the monotonic clock."""
    topics: Mapping[str, TopicState]
    groups: Mapping[str, GroupState]
    share_groups: Mapping[str, ShareGroupState]
    ends: Mapping[str, int]
    """The sum of all high watermarks of a topic."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """Records a second by topic, since the look before."""


class Cluster:
    """Looks at a cluster when somebody asks, and no oftener than every two seconds.

    A page gets the look that is there, and the next one is taken behind its back. All methods
    block; pages call them through `Questions`.
    """

    def __init__(self, access: ClusterAccess, name: str) -> None:
        self.name = name
        self.connection = Connection(access)
        self._reader = ClusterReader(access)
        self._took_s = 0.0
        who = f"the cluster at {access.bootstrap_servers}"
        self._looks = SharedAnswer(self._read, who)
        self._directories = SharedAnswer(self._ask_directories, who)
        self._sizes_are_old = False

    @property
    def raw(self) -> RawAdmin:
        """What sends requests that no client library has."""
        return RawAdmin(self.connection)

    def look(self) -> Look:
        """Return the cluster as it was a moment ago; raises ClientError."""
        seen = self._seen
        if seen is None:
            return self._looks.get(WAIT_S)
        age = time.monotonic() - seen.taken
        rest_s = max(LOOK_AFTER_S, self._took_s * _REST_FACTOR)
        if age < rest_s:
            return seen
        if self._took_s < _QUICK_S or age > rest_s + _STALE_S:
            return self._looks.get(WAIT_S)
        self._looks.begin()
        return seen

    def look_again(self) -> Look:
        """Return the cluster as it is now: somebody has changed something."""
        return self._looks.anew(REQUEST_WITHIN_S)

    def changed(self) -> None:
        """Look again, and ask for sizes again: somebody has changed something."""
        self._sizes_are_old = True
        self.look_again()

    @property
    def _seen(self) -> Look | None:
        last = self._looks.last
        return None if last is None else last[0]

    def _read(self) -> Look:
        before, started = self._seen, time.monotonic()
        look = _looked(self._reader.read(), before)
        took_s = time.monotonic() - started
        if before is None:
            # The first one imports and connects, and says little of the others.
            took_s = 0.0 if took_s < _QUICK_AT_FIRST_S else _QUICK_S
        self._took_s = took_s
        return look

    def directories(self) -> Sequence[LogDirectory]:
        """Return where brokers keep their logs; empty where they may not tell, or not in time."""
        last = self._directories.last
        if last is not None and not self._sizes_are_old:
            if time.monotonic() - last[1] >= SIZES_AFTER_S:
                self._directories.begin()  # for those who ask next
            return last[0]
        self._sizes_are_old = False
        try:
            return self._directories.get(WAIT_S)
        except ClientError:
            return () if last is None else last[0]

    def _ask_directories(self) -> Sequence[LogDirectory]:
        try:
            return log_directories(self.raw)
        except ClientError:  # an old broker, or one that does not tell everybody
            return ()

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes of each topic, all replicas together."""
        sizes: dict[str, int] = {}
        for directory in self.directories():
            for (topic, _), size in directory.partitions.items():
                sizes[topic] = sizes.get(topic, 0) + size
        return sizes

    def close(self) -> None:
        """Hang up, and wait for nobody."""
        self._reader.close()


def _looked(state: ClusterState, before: Look | None) -> Look:
    taken = time.monotonic()
    topics = {topic.name: topic for topic in state.topics}
    ends = {
        topic.name: sum(partition.high_watermark or 0 for partition in topic.partitions)
        for topic in state.topics
    }
    rates: dict[str, float] = {}
    if before is not None:
        passed = max(taken - before.taken, 0.001)
        rates = {
            name: max(end - before.ends[name], 0) / passed
            for name, end in ends.items()
            if name in before.ends
        }
    groups = {group.group_id: group for group in state.groups}
    share_groups = {group.group_id: group for group in state.share_groups}
    return Look(state, taken, topics, groups, share_groups, ends, rates)
