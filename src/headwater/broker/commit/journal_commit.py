"""Group commit by the journal: one sync for all partitions that were written to meanwhile."""

from __future__ import annotations

import logging
from queue import SimpleQueue
from time import perf_counter_ns
from typing import TYPE_CHECKING

from headwater.broker.commit.group_commit import GroupCommit, OnDurable, answer
from headwater.log.journal.journal_format import LogId

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from headwater.broker.topics.partition import Partition
    from headwater.log.journal.journal import Journal
    from headwater.log.log import LogPosition

    Group = dict[Partition, list[OnDurable]]


logger = logging.getLogger("headwater.broker")


class JournalCommit(GroupCommit):
    """Has at most one commit under way; all that comes meanwhile is in the next one.

    A thread of the executor is its own until it is closed: handing over a task for each commit, and
    its result back, would take three times as long.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, executor: Executor, journal: Journal
    ) -> None:
        super().__init__(loop, executor)
        self._journal = journal
        self._groups: SimpleQueue[Group | None] = SimpleQueue()
        self._is_under_way = False
        self._is_due = False
        self._drained: list[asyncio.Future[None]] = []
        executor.submit(self._commit_groups)

    def request(self, partition: Partition, on_durable: OnDurable | None = None) -> None:
        """Make what has been appended so far safe and then call back."""
        waiting = self._waiting.setdefault(partition, [])
        if on_durable is not None:
            waiting.append(on_durable)
        if not self._is_under_way and not self._is_due:
            # Not at once: the other partitions of the request come along.
            self._is_due = True
            self._loop.call_soon(self._start_group)

    async def drain(self) -> None:
        """Wait until nothing is left to commit."""
        while self._is_due or self._is_under_way:
            drained: asyncio.Future[None] = self._loop.create_future()
            self._drained.append(drained)
            await drained

    def close(self) -> None:
        """Give the thread back."""
        self._groups.put(None)

    def _start_group(self) -> None:
        self._is_due = False
        self._is_under_way = True
        taken, self._waiting = self._waiting, {}
        self._groups.put(taken)

    def _commit_groups(self) -> None:
        for group in iter(self._groups.get, None):
            started_ns = perf_counter_ns()
            results: Sequence[LogPosition | BaseException]
            try:
                results = self._journal.commit(
                    [(LogId(each.topic_id, each.index), each.log) for each in group]
                )
            except Exception as error:
                # Told to all who wait, and logged there.
                results = [error] * len(group)
            spent_ns = perf_counter_ns() - started_ns
            self._loop.call_soon_threadsafe(self._group_finished, group, results, spent_ns)

    def _group_finished(
        self, group: Group, results: Sequence[LogPosition | BaseException], spent_ns: int
    ) -> None:
        self._is_under_way = False
        self.flush_times.record(spent_ns)
        if self._waiting and not self._is_due:
            # First, so that the disk has something to do while these are answered.
            self._start_group()
        for (partition, callbacks), result in zip(group.items(), results, strict=True):
            _answer(partition, result, callbacks)
        if not self._is_under_way and not self._is_due:
            for drained in self._drained:
                if not drained.done():
                    drained.set_result(None)
            self._drained.clear()


def _answer(
    partition: Partition, result: LogPosition | BaseException, callbacks: list[OnDurable]
) -> None:
    try:
        answer(partition, result, callbacks)
    except Exception:
        # The other partitions wait for their own answers.
        logger.exception("a request could not be answered after %s was stored", partition)
