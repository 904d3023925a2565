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

from collections import deque
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


class PartitionVerdict(NamedTuple):
    """What is to be said of a group's way through a partition."""

    lag: PartitionLag
    status: Status
    reason: str
    samples: Sequence[Sample]
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
    """Remembers the last samples of each group and partition."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._samples: dict[tuple[str, str, int], deque[Sample]] = {}

    def judge(
        self, lags: Mapping[str, Sequence[PartitionLag]], time_ms: int
    ) -> dict[str, GroupVerdict]:
        """Take the next sample of each, and return what there is to say; others are forgotten."""
        samples = {}
        verdicts = {}
        for group, partitions in lags.items():
            judged = []
            for lag in partitions:
                key = (group, lag.topic, lag.partition)
                seen = samples[key] = self._samples.get(key) or deque(maxlen=self._window)
                seen.append(Sample(time_ms, lag.offset, lag.records))
                complete = len(seen) / self._window
                status, reason = judge_partition(list(seen), lag, is_complete=complete == 1)
                judged.append(PartitionVerdict(lag, status, reason, list(seen), complete))
            verdicts[group] = _group_verdict(group, judged)
        self._samples = samples
        return verdicts


def judge_partition(
    samples: Sequence[Sample], lag: PartitionLag, *, is_complete: bool
) -> tuple[Status, str]:
    """Return what samples of one partition, oldest first, come to, and why."""
    for before, after in pairwise(samples):
        if after.offset < before.offset:
            return Status.REWIND, (
                f"its offset went back from {before.offset} to {after.offset}: it was reset, or "
                "what has been read is being read again"
            )
    if any(not sample.lag for sample in samples):
        return Status.OK, "it was at the end lately"
    if not is_complete:
        return Status.OK, "it has not been watched for long enough to be judged"
    first, last = samples[0], samples[-1]
    seconds = (last.time_ms - first.time_ms) / 1000
    falls_behind = all(after.lag >= before.lag for before, after in pairwise(samples))
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
