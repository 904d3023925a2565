"""What is to be said of a group, judged by how it came along lately, as Burrow judges.

A lag by itself says little: a group may be far behind and catching up. So each partition is judged
by a window of samples. A fixed limit is not needed:

- a group that was at the end once in the window is well;
- one that goes on, and falls behind at each step or stays as far behind, is too slow;
- one that does not go on although there are records is stalled where a member reads the partition,
  and stopped where none does;
- an offset that went back is told, since records are read again.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.monitor.lags import PartitionLag


class Status(IntEnum):
    """Burrow's words, with its numbers; the greater the worse."""

    NOTFOUND = 0
    OK = 1
    WARN = 2
    ERR = 3
    STOP = 4
    STALL = 5
    REWIND = 6


class Sample(NamedTuple):
    """Where a group stood at some time."""

    time_ms: int
    offset: int
    lag: int


class History(NamedTuple):
    """Where a group stood at each look of the window, oldest first, in columns.

    Numbers of a partition are one tuple, since objects for each look at each partition would be
    most of what the monitor holds on to.
    """

    times_ms: Sequence[int]
    """Of all looks of the window; those of before the group was seen here as well."""
    offsets: Sequence[int]
    lags: Sequence[int]

    @property
    def first(self) -> Sample:
        """The oldest."""
        return Sample(self.times_ms[-len(self.offsets)], self.offsets[0], self.lags[0])

    @property
    def last(self) -> Sample:
        """The newest."""
        return Sample(self.times_ms[-1], self.offsets[-1], self.lags[-1])


class PartitionVerdict(NamedTuple):
    """What is to be said of a group's way through a partition."""

    lag: PartitionLag
    status: Status
    reason: str
    history: History
    complete: float
    """How much of the window has been seen; with less than all of it, only a rewind is told."""


class GroupVerdict(NamedTuple):
    """What is to be said of a group: the worst of its partitions."""

    group: str
    status: Status
    reason: str
    partitions: Sequence[PartitionVerdict]

    @property
    def max_lag(self) -> PartitionVerdict | None:
        """The partition in which it is furthest behind."""
        return max(self.partitions, key=lambda each: each.lag.records, default=None)


class Judge:
    """Remembers the last looks at each group and partition."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._times_ms: Sequence[int] = ()
        self._seen: dict[tuple[str, str, int], History] = {}

    def judge(
        self, lags: Mapping[str, Sequence[PartitionLag]], time_ms: int
    ) -> dict[str, GroupVerdict]:
        """Take the next look at each, and return what there is to say; others are forgotten."""
        keep = 1 - self._window
        times_ms = self._times_ms = (*self._times_ms[keep:], time_ms)
        seen = {}
        verdicts = {}
        for group, partitions in lags.items():
            judged = []
            for lag in partitions:
                key = (group, lag.topic, lag.partition)
                _, offsets, behind = self._seen.get(key, _NOTHING)
                history = seen[key] = History(
                    times_ms, (*offsets[keep:], lag.offset), (*behind[keep:], lag.records)
                )
                complete = len(history.offsets) / self._window
                status, reason = judge_partition(history, lag, is_complete=complete == 1)
                judged.append(PartitionVerdict(lag, status, reason, history, complete))
            verdicts[group] = _group_verdict(group, judged)
        self._seen = seen
        return verdicts


_NOTHING = History((), (), ())


def judge_partition(
    history: History, lag: PartitionLag, *, is_complete: bool
) -> tuple[Status, str]:
    """Return what the looks at one partition come to, and why."""
    _, offsets, lags = history
    if not _is_rising(offsets):
        before, after = next(step for step in pairwise(offsets) if step[1] < step[0])
        return Status.REWIND, (
            f"its offset went back from {before} to {after}: it was reset, or "
            "what has been read is being read again"
        )
    if 0 in lags:
        return Status.OK, "it was at the end lately"
    if not is_complete:
        return Status.OK, "it has not been watched for long enough to be judged"
    first, last = history.first, history.last
    seconds = (last.time_ms - first.time_ms) / 1000
    falls_behind = _is_rising(lags)
    if first.offset == last.offset and falls_behind:
        if lag.owner is None:
            return Status.STOP, (
                f"no member reads it, {last.lag} records wait, and it has not gone on for "
                f"{seconds:.0f} s: start a consumer of this group"
            )
        return Status.STALL, (
            f"its member {lag.owner.client_id} at {lag.owner.host} has not gone on for "
            f"{seconds:.0f} s although {last.lag} records wait: look at that consumer, which may "
            "hang, or fail at this record again and again"
        )
    if falls_behind:
        return Status.WARN, (
            f"it goes on, but has not caught up for {seconds:.0f} s: it was {first.lag} records "
            f"behind and is {last.lag}: it needs more members or less work for each record"
        )
    return Status.OK, f"it is {last.lag} records behind and catching up"


def _is_rising(numbers: Sequence[int]) -> bool:
    return sorted(numbers) == [*numbers]


def _group_verdict(group: str, judged: Sequence[PartitionVerdict]) -> GroupVerdict:
    worst = max(judged, key=lambda each: (each.status, each.lag.records), default=None)
    if worst is None:
        return GroupVerdict(group, Status.OK, "it has committed nothing", judged)
    if worst.status is Status.OK:
        return GroupVerdict(group, Status.OK, "all of its partitions are well", judged)
    where = f"{worst.lag.topic}-{worst.lag.partition}: {worst.reason}"
    others = sum(each.status is not Status.OK for each in judged) - 1
    more = f"; {others} more of its partitions are not well" if others else ""
    return GroupVerdict(group, worst.status, where + more, judged)
