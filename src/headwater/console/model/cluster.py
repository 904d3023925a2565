"""The cluster: what it looks like now, how fast it grows, and how much its topics take."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.clients.connection import Connection
from headwater.clients.errors import ClientError
from headwater.clients.raw.admin import RawAdmin
from headwater.clients.raw.cluster_reader import ClusterReader
from headwater.clients.raw.log_dirs import LogDirectory, log_directories

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.clients import ClusterAccess
    from headwater.metrics.cluster_state import ClusterState, GroupState, TopicState

# A look costs brokers and us something; several pages and tabs share one. A large cluster is looked
# at less often: looking takes no more than a tenth of one core.
LOOK_AFTER_S = 2.0
_REST_FACTOR = 10
SIZES_AFTER_S = 20.0
# What is older is not shown while a new look is on its way.
_STALE_S = 30.0
# So long may somebody wait for a look that is new.
_QUICK_S = 0.2

logger = logging.getLogger("headwater.console")


@dataclass(frozen=True)
class Look:
    """The cluster at one moment."""

    state: ClusterState
    taken: float
    """By the monotonic clock."""
    topics: Mapping[str, TopicState]
    groups: Mapping[str, GroupState]
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
        self._lock = threading.Lock()
        self._look: Look | None = None
        self._took_s = 0.0
        self._sizes_lock = threading.Lock()
        self._sizes: tuple[float, Sequence[LogDirectory]] | None = None

    @property
    def raw(self) -> RawAdmin:
        """What sends requests that no client library has."""
        return RawAdmin(self.connection)

    def look(self) -> Look:
        """Return the cluster as it was a moment ago; raises ClientError."""
        seen = self._look
        if seen is None:
            return self._look_after(None)
        age = time.monotonic() - seen.taken
        if age < max(LOOK_AFTER_S, self._took_s * _REST_FACTOR):
            return seen
        if self._took_s < _QUICK_S or age > _STALE_S:
            return self._look_after(seen)
        threading.Thread(target=self._look_behind, args=(seen,), daemon=True).start()
        return seen

    def look_again(self) -> Look:
        """Return the cluster as it is now: somebody has changed something."""
        with self._lock:
            return self._read()

    def changed(self) -> None:
        """Look again, and ask for sizes again: somebody has changed something."""
        with self._sizes_lock:
            self._sizes = None
        self.look_again()

    def _look_after(self, seen: Look | None) -> Look:
        """Look, unless somebody else has looked since; one at a time does."""
        with self._lock:
            if self._look is not None and self._look is not seen:
                return self._look
            return self._read()

    def _read(self) -> Look:
        started, is_first = time.monotonic(), self._look is None
        self._look = _looked(self._reader.read(), self._look)
        # The first one imports and connects, and says nothing of the others.
        self._took_s = 0.0 if is_first else time.monotonic() - started
        return self._look

    def _look_behind(self, seen: Look) -> None:
        try:
            self._look_after(seen)
        except ClientError:
            # Whoever asks next finds the look too old in the end, and is told.
            logger.info("the cluster at %s does not answer", self.connection.bootstrap_servers)

    def directories(self) -> Sequence[LogDirectory]:
        """Return where brokers keep their logs; empty where they may not tell."""
        with self._sizes_lock:
            known = self._sizes
            if known is not None and time.monotonic() - known[0] < SIZES_AFTER_S:
                return known[1]
            try:
                found: Sequence[LogDirectory] = log_directories(self.raw)
            except ClientError:  # an old broker, or one that does not tell everybody
                found = ()
            self._sizes = (time.monotonic(), found)
            return found

    def sizes(self) -> Mapping[str, int]:
        """Return the bytes of each topic, all replicas together."""
        sizes: dict[str, int] = {}
        for directory in self.directories():
            for (topic, _), size in directory.partitions.items():
                sizes[topic] = sizes.get(topic, 0) + size
        return sizes

    def close(self) -> None:
        """Hang up."""
        with self._lock:
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
    return Look(state, taken, topics, groups, ends, rates)
