"""Which segments of a log are old or many enough to go."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.log.config import LogConfig
    from headwater.log.segments.segment import Segment


def count_removable(
    segments: Sequence[Segment],
    config: LogConfig,
    *,
    log_start_offset: int,
    flushed_offset: int,
    now_ms: int,
) -> int:
    """How many of the oldest segments may be removed; never the active one, which is the last.

    Those below the log start always go. With `cleanup.policy=delete`, so do those that are too
    old for `retention.ms` or more than `retention.bytes` can hold. Nothing goes that is not on
    disk, since consumers cannot have seen it.
    """
    excess = sum(segment.size for segment in segments) - config.retention_bytes
    count = 0
    for segment, following in pairwise(segments):
        if following.base_offset > flushed_offset:
            break
        if following.base_offset > log_start_offset and not (
            config.deletes
            and (
                is_expired(segment, config, now_ms)
                or (config.retention_bytes >= 0 and excess >= segment.size)
            )
        ):
            break
        excess -= segment.size
        count += 1
    return count


def is_expired(segment: Segment, config: LogConfig, now_ms: int) -> bool:
    """Whether the segment's youngest record is older than `retention.ms`."""
    return (
        config.deletes
        and config.retention_ms >= 0
        and now_ms - segment.largest_timestamp > config.retention_ms
        # An index that lies must not make a young segment old.
        and segment.prove_largest_timestamp()
    )
