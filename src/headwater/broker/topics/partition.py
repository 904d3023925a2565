"""A partition as the broker sees it: a log, its high watermark and who waits for more."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from headwater.protocol.errors import ErrorCode
from headwater.protocol.fetch import AbortedTransaction

if TYPE_CHECKING:
    from headwater.log.log import AppendInfo, AppendOrigin, Log, LogPosition
    from headwater.log.segments.segment import FileSlice


class AppendWaiter(Protocol):
    """Somebody who wants to know that consumers can read further."""

    def high_watermark_moved(self, partition: Partition) -> None:
        """Called on the event loop after the high watermark of the partition has moved."""


class Partition:
    """One log with the offset up to which consumers may read it."""

    __slots__ = (
        "_high_watermark", "_stable_end", "_waiters", "bytes_in", "bytes_out", "index",
        "leader_epoch", "log", "records_in", "topic", "topic_id",
    )  # fmt: skip

    def __init__(
        self, topic: str, topic_id: bytes, index: int, log: Log, leader_epoch: int = 0
    ) -> None:
        self.topic = topic
        self.topic_id = topic_id
        self.index = index
        self.log = log
        self.leader_epoch = leader_epoch
        # What recovery kept is on disk and checked, so all of it may be read.
        self._high_watermark = self._stable_end = log.end
        self._waiters: set[AppendWaiter] = set()
        # Since the broker started: for metrics, and for nothing else.
        self.bytes_in = self.bytes_out = self.records_in = 0

    def __repr__(self) -> str:
        return f"Partition({self.topic}-{self.index})"

    @property
    def high_watermark(self) -> int:
        """The offset up to which consumers may read."""
        return self._high_watermark.offset

    @property
    def readable_end(self) -> LogPosition:
        """Where the readable part of the log ends, as a place in a segment."""
        return self._high_watermark

    @property
    def last_stable_offset(self) -> int:
        """The offset up to which readers of committed records may read.

        From the first open transaction on, nobody knows yet which records count.
        """
        high_watermark = self._high_watermark.offset
        unstable = self.log.producers.first_unstable_offset(high_watermark)
        if unstable is None or unstable >= high_watermark:
            return high_watermark
        return max(unstable, self.log.log_start_offset)

    def check_leader_epoch(self, epoch: int) -> ErrorCode:
        """Compare the leader epoch that a client knows (-1: none) with the one in force."""
        if epoch < 0 or epoch == self.leader_epoch:
            return ErrorCode.NONE
        is_old = epoch < self.leader_epoch
        return ErrorCode.FENCED_LEADER_EPOCH if is_old else ErrorCode.UNKNOWN_LEADER_EPOCH

    def append(self, records: memoryview, now_ms: int, origin: AppendOrigin) -> AppendInfo:
        """Append one batch; it becomes readable when the high watermark passes it."""
        size = len(records)
        info = self.log.append(
            records, leader_epoch=self.leader_epoch, now_ms=now_ms, origin=origin
        )
        self.bytes_in += size
        self.records_in += info.last_offset - info.base_offset + 1
        return info

    def read(self, offset: int, max_bytes: int, *, min_one: bool) -> FileSlice:
        """Return the readable batches from an offset on, as a region of a segment."""
        return self.log.read(offset, max_bytes, self._high_watermark, min_one=min_one)

    def read_committed(
        self, offset: int, max_bytes: int, *, min_one: bool
    ) -> tuple[FileSlice, list[AbortedTransaction]]:
        """Do the same up to the last stable offset, and name the transactions to leave out."""
        stable_end = self._find_stable_end()
        batches = self.log.read(offset, max_bytes, stable_end, min_one=min_one)
        if not len(batches):
            return batches, []
        aborted = self.log.aborted_in(batches, offset, stable_end)
        return batches, [AbortedTransaction(txn.producer_id, txn.first_offset) for txn in aborted]

    def advance(self, end: LogPosition) -> None:
        """Move the high watermark forward and tell those who wait."""
        if end.offset <= self._high_watermark.offset:
            return
        self._high_watermark = end
        if self._waiters:
            for waiter in tuple(self._waiters):
                waiter.high_watermark_moved(self)

    def add_waiter(self, waiter: AppendWaiter) -> None:
        """Tell this waiter of every move of the high watermark."""
        self._waiters.add(waiter)

    def remove_waiter(self, waiter: AppendWaiter) -> None:
        """Stop telling this waiter."""
        self._waiters.discard(waiter)

    def _find_stable_end(self) -> LogPosition:
        offset = self.last_stable_offset
        if offset == self._high_watermark.offset:
            return self._high_watermark
        if offset != self._stable_end.offset:
            self._stable_end = self.log.position_of(offset)
        return self._stable_end

    async def delete_records(self, offset: int) -> int:
        """Move the log start up to an offset and return the new log start offset."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, self.log.delete_records, offset)

    def close(self) -> None:
        """Let everyone who waits look again, so that a deleted topic is noticed at once."""
        for waiter in tuple(self._waiters):
            waiter.high_watermark_moved(self)
        self._waiters.clear()
