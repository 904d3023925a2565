"""Which part of a log can be compacted, and which of several logs is worth it most."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.log.log import Log
    from headwater.log.segments.segment import Segment


class LogToClean(NamedTuple):
    """The closed segments of a log that a pass may touch, and how dirty they are."""

    log: Log
    segments: tuple[Segment, ...]
    first_dirty_offset: int
    upper_offset: int
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool

    @property
    def dirty_ratio(self) -> float:
        """Share of the bytes that was never compacted."""
        return self.dirty_bytes / (self.clean_bytes + self.dirty_bytes or 1)

    @property
    def is_worth_it(self) -> bool:
        """Whether `min.cleanable.dirty.ratio` or `max.compaction.lag.ms` asks for a pass."""
        if not self.dirty_bytes:
            return False
        return self.is_overdue or self.dirty_ratio > self.log.config.min_cleanable_dirty_ratio


def examine(log: Log, checkpoint: int | None, upper_offset: int, now_ms: int) -> LogToClean:
    """Find what can be compacted below `upper_offset`.

    The active segment never is, nor are segments with records younger than
    `min.compaction.lag.ms`. `checkpoint` is where the last pass ended.
    """
    first_dirty = first_dirty_offset(log, checkpoint)
    config = log.config
    youngest_allowed = now_ms - config.min_compaction_lag_ms
    chosen: list[Segment] = []
    clean_bytes = dirty_bytes = 0
    end = log.segments[0].base_offset
    is_overdue = False
    for segment, following in pairwise(log.segments):
        is_dirty = following.base_offset > first_dirty
        if following.base_offset > upper_offset:
            break
        if is_dirty:
            if config.min_compaction_lag_ms > 0 and segment.largest_timestamp > youngest_allowed:
                break
            dirty_bytes += segment.size
            is_overdue = is_overdue or _is_overdue(segment, config.max_compaction_lag_ms, now_ms)
        else:
            clean_bytes += segment.size
        chosen.append(segment)
        end = following.base_offset
    return LogToClean(log, tuple(chosen), first_dirty, end, clean_bytes, dirty_bytes, is_overdue)


def dirtiest(candidates: Iterable[LogToClean]) -> LogToClean | None:
    """Choose the one with the largest share of uncompacted bytes, if any is worth a pass."""
    return max(
        (candidate for candidate in candidates if candidate.is_worth_it),
        key=lambda candidate: candidate.dirty_ratio,
        default=None,
    )


def first_dirty_offset(log: Log, checkpoint: int | None) -> int:
    """Where the uncompacted part starts; a checkpoint that the log does not have means at first."""
    if checkpoint is None or not log.log_start_offset <= checkpoint <= log.log_end_offset:
        return log.log_start_offset
    return checkpoint


def _is_overdue(segment: Segment, max_lag_ms: int, now_ms: int) -> bool:
    # Without a limit (the default) the first timestamp need not be read from the disk.
    if max_lag_ms >= now_ms:
        return False
    return 0 < segment.first_timestamp < now_ms - max(max_lag_ms, 0)
