"""Group commit by the journal: one sync for all partitions that were written to meanwhile."""

from __future__ import annotations

import asyncio
import logging
from time import perf_counter_ns
from typing import TYPE_CHECKING

from headwater.broker.group_commit import GroupCommit, OnDurable, answer
from headwater.log.journal.journal_format import LogId

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from headwater.broker.partition import Partition
    from headwater.log.errors import LogError
    from headwater.log.journal.journal import Journal
    from headwater.log.log import LogPosition

    Committed = tuple[list[LogPosition | LogError], int]


logger = logging.getLogger("headwater.broker")


class JournalCommit(GroupCommit):
    """Has at most one commit under way; all that comes meanwhile is in the next one."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, executor: Executor, journal: Journal
    ) -> None:
        super().__init__(loop, executor)
        self._journal = journal
        self._group: asyncio.Future[Committed] | None = None
        self._is_due = False

    def request(self, partition: Partition, on_durable: OnDurable | None = None) -> None:
        """Make what has been appended so far safe and then call back."""
        waiting = self._waiting.setdefault(partition, [])
        if on_durable is not None:
            waiting.append(on_durable)
        if self._group is None and not self._is_due:
            # Not at once: the other partitions of the request come along.
            self._is_due = True
            self._loop.call_soon(self._start_group)

    async def drain(self) -> None:
        """Wait until nothing is left to commit."""
        while self._is_due or self._group is not None:
            if self._group is None:
                await asyncio.sleep(0)
            else:
                await asyncio.wait([self._group])

    def _start_group(self) -> None:
        self._is_due = False
        taken, self._waiting = self._waiting, {}
        self._group = work = self._loop.run_in_executor(
            self._executor, _commit, self._journal, tuple(taken)
        )
        work.add_done_callback(lambda done: self._group_finished(taken, done))

    def _group_finished(
        self, taken: dict[Partition, list[OnDurable]], done: asyncio.Future[Committed]
    ) -> None:
        self._group = None
        error = done.exception()
        if error is None:
            results, nanoseconds = done.result()
            self.flush_times.record(nanoseconds)
            for (partition, callbacks), result in zip(taken.items(), results, strict=True):
                _answer(partition, result, callbacks)
        else:
            for partition, callbacks in taken.items():
                _answer(partition, error, callbacks)
        if self._waiting and self._group is None and not self._is_due:
            self._start_group()


def _answer(
    partition: Partition, result: LogPosition | BaseException, callbacks: list[OnDurable]
) -> None:
    try:
        answer(partition, result, callbacks)
    except Exception:
        # The other partitions wait for their own answers.
        logger.exception("a request could not be answered after %s was stored", partition)


def _commit(journal: Journal, partitions: tuple[Partition, ...]) -> Committed:
    started_ns = perf_counter_ns()
    logs = [(LogId(each.topic_id, each.index), each.log) for each in partitions]
    return journal.commit(logs), perf_counter_ns() - started_ns
