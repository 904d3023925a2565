"""When a log begins a new segment."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from headwater.log.indexes.offset_index import OffsetIndex
from headwater.log.indexes.time_index import TimeIndex
from headwater.log.segments.segment import MAX_RELATIVE_OFFSET

if TYPE_CHECKING:
    from headwater.log.append_info import Placed
    from headwater.log.config import LogConfig
    from headwater.log.segments.segment import Segment


class RollPolicy:
    """Rolls by size, by age, when an index is full and when offsets get too far apart."""

    __slots__ = (
        "_jitter_ms", "_most_entries", "_most_times", "_segment_bytes", "_segment_ms",
    )  # fmt: skip

    def __init__(self, config: LogConfig) -> None:
        self._segment_bytes = config.segment_bytes
        self._segment_ms = config.segment_ms
        if config.compacts:
            # Only closed segments are compacted, so the longest lag bounds their age too.
            self._segment_ms = min(self._segment_ms, max(config.max_compaction_lag_ms, 1))
        self._jitter_ms = min(config.segment_jitter_ms, config.segment_ms)
        # Divided once, and not for each batch.
        self._most_entries = OffsetIndex.most_entries(config.segment_index_bytes)
        self._most_times = TimeIndex.most_entries(config.segment_index_bytes)

    def jitter_ms(self) -> int:
        """How much earlier than others a segment rolls, so that not all do at once."""
        return random.randrange(self._jitter_ms) if self._jitter_ms > 0 else 0

    def must_roll(self, segment: Segment, size: int, placed: Placed, now_ms: int) -> bool:
        """Whether batches of `size` bytes belong into a new segment."""
        if segment.size == 0:
            return False
        if segment.size + size > self._segment_bytes:
            return True
        first_timestamp = segment.first_timestamp
        if first_timestamp >= 0:
            age_ms = placed.max_timestamp - first_timestamp
        else:
            age_ms = now_ms - segment.created_ms
        return (
            age_ms > self._segment_ms - segment.roll_jitter_ms
            or placed.last_offset - segment.base_offset > MAX_RELATIVE_OFFSET
            or segment.offset_index.count >= self._most_entries
            or segment.time_index.count >= self._most_times
        )
