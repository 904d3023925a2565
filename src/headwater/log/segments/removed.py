"""Segments that are out of a log and wait for `file.delete.delay.ms` until their files go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.log.file_names import DELETED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.log.segments.segment import Segment


class RemovedSegments:
    """Keeps the files with the ending `.deleted`; a restart removes them at once."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[tuple[Segment, int | None]] = []

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, segments: Iterable[Segment]) -> None:
        """Rename the files of segments that the log does not list any more, the oldest first.

        A crash in between then leaves the younger ones, whose tombstones still count.
        """
        for segment in segments:
            self._waiting.append((segment, None))
            segment.rename(DELETED)
            segment.release_indexes()

    def purge(self, now_ms: int, delay_ms: int) -> int:
        """Remove the files of those whose time is up, counted from the first call that saw them."""
        removed = 0
        waiting: list[tuple[Segment, int | None]] = []
        for segment, since_ms in self._waiting:
            since = now_ms if since_ms is None else since_ms
            if now_ms - since < delay_ms:
                waiting.append((segment, since))
            else:
                segment.remove_files()
                removed += 1
        self._waiting = waiting
        return removed
