"""Group commit: one fsync for everything that arrived while the last one was running.

Each partition has at most one fsync under way. Appends that come meanwhile wait for the next,
which covers them all, so that the cost of a disk's flush is shared by however many producers
there are.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING

from headwater.broker.metrics.durations import Durations
from headwater.log.errors import LogError, StorageError
from headwater.log.rate_limited_logger import RateLimitedLogger

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from headwater.broker.topics.partition import Partition
    from headwater.log.log import Log, LogPosition

logger = logging.getLogger("headwater.broker")
_failures = RateLimitedLogger(logger)

OnDurable = Callable[[LogError | None], None]
"""Called on the event loop once an append is on disk, or with the reason why it is not."""


class GroupCommit:
    """Flushes partitions in worker threads and moves their high watermarks afterwards."""

    def __init__(self, loop: asyncio.AbstractEventLoop, executor: Executor) -> None:
        self._loop = loop
        self._executor = executor
        self._running: dict[Partition, asyncio.Future[tuple[LogPosition, int]]] = {}
        self._waiting: dict[Partition, list[OnDurable]] = {}
        self.flush_times = Durations()

    def request(self, partition: Partition, on_durable: OnDurable | None = None) -> None:
        """Bring what has been appended so far to disk and then call back."""
        waiting = self._waiting.setdefault(partition, [])
        if on_durable is not None:
            waiting.append(on_durable)
        if partition not in self._running:
            self._start(partition)

    async def wait(self, partition: Partition) -> None:
        """Bring what has been appended so far to disk; raises LogError if that cannot be done."""
        stored: asyncio.Future[None] = self._loop.create_future()

        def on_durable(error: LogError | None) -> None:
            if stored.done():
                return
            if error is None:
                stored.set_result(None)
            else:
                stored.set_exception(error)

        self.request(partition, on_durable)
        await stored

    async def drain(self) -> None:
        """Wait until nothing is left to flush."""
        while self._running:
            await asyncio.wait(self._running.values())

    def close(self) -> None:
        """Let go of what it holds, once it is drained."""

    def _start(self, partition: Partition) -> None:
        callbacks = self._waiting.pop(partition)
        work = self._running[partition] = self._loop.run_in_executor(
            self._executor, _flush, partition.log
        )
        work.add_done_callback(lambda done: self._finished(partition, callbacks, done))

    def _finished(
        self,
        partition: Partition,
        callbacks: list[OnDurable],
        done: asyncio.Future[tuple[LogPosition, int]],
    ) -> None:
        del self._running[partition]
        error = done.exception()
        if error is None:
            end, nanoseconds = done.result()
            self.flush_times.record(nanoseconds)
            answer(partition, end, callbacks)
        else:
            answer(partition, error, callbacks)
        if partition in self._waiting and partition not in self._running:
            self._start(partition)


def answer(
    partition: Partition, result: LogPosition | BaseException, callbacks: list[OnDurable]
) -> None:
    """Move the high watermark up to what is on disk now, or log why it is not; then call back."""
    error = None
    if not isinstance(result, BaseException):
        partition.advance(result)
    elif isinstance(result, LogError):
        _failures.error(StorageError, "%s", result)
        error = result
    else:
        _failures.error(type(result), "flushing %s failed", partition.log.name, exc_info=result)
        error = StorageError(f"flushing {partition.log.name} failed: {result}")
    for callback in callbacks:
        callback(error)


def _flush(log: Log) -> tuple[LogPosition, int]:
    started_ns = perf_counter_ns()
    return log.flush(), perf_counter_ns() - started_ns
