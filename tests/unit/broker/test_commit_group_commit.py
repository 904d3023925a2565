"""One fsync for all that arrived meanwhile, and what happens when it fails."""

from __future__ import annotations

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from headwater.broker.commit.group_commit import GroupCommit
from headwater.broker.topics.partition import Partition
from headwater.log.config import LogConfig
from headwater.log.errors import LogError, StorageError
from headwater.log.log import AppendOrigin, Log, LogPosition
from headwater.log.records.record import Record, encode_batch

if TYPE_CHECKING:
    from pathlib import Path

NOW_MS = 1_700_000_000_000


def partition_in(directory: Path) -> Partition:
    log = Log.open(directory / "t-0", LogConfig(), clean=True, now_ms=NOW_MS)
    return Partition("t", bytes(16), 0, log)


def append(partition: Partition, value: bytes) -> LogPosition:
    batch = encode_batch([Record(0, NOW_MS, None, value)])
    return partition.append(memoryview(batch), NOW_MS, AppendOrigin.CLIENT).end


class SlowFlush:
    """Counts a log's flushes and holds each one back until it is let go."""

    def __init__(self, log: Log) -> None:
        self._flush = log.flush
        self.go = threading.Semaphore(0)
        self.began = threading.Semaphore(0)
        self.count = 0

    def __call__(self) -> LogPosition:
        self.count += 1
        self.began.release()
        self.go.acquire()
        return self._flush()


def test_what_arrives_during_an_fsync_shares_the_next_one(tmp_path: Path) -> None:
    partition = partition_in(tmp_path)
    slow = SlowFlush(partition.log)
    partition.log.flush = slow  # type: ignore[method-assign]

    async def run() -> list[int]:
        with ThreadPoolExecutor(2) as executor:
            commits = GroupCommit(asyncio.get_running_loop(), executor)
            durable: list[int] = []

            def produce(number: int) -> None:
                append(partition, b"%d" % number)
                commits.request(partition, lambda error: durable.append(number))

            produce(0)
            await asyncio.to_thread(slow.began.acquire)
            for number in range(1, 10):
                produce(number)
            assert partition.high_watermark == 0
            slow.go.release()
            await asyncio.to_thread(slow.began.acquire)
            await asyncio.sleep(0)
            assert durable == [0]
            slow.go.release()
            await commits.drain()
            return durable

    assert asyncio.run(run()) == list(range(10))
    assert slow.count == 2
    assert partition.high_watermark == partition.log.recovery_point == 10


def test_a_failed_fsync_fails_everyone_who_waited_and_hides_the_data(tmp_path: Path) -> None:
    partition = partition_in(tmp_path)
    append(partition, b"safe")
    partition.advance(partition.log.flush())

    async def run() -> list[LogError | None]:
        with ThreadPoolExecutor(1) as executor:
            commits = GroupCommit(asyncio.get_running_loop(), executor)
            append(partition, b"lost")
            # fsync of a pipe is an error of the system, as that of a failing disk would be.
            reader, writer = os.pipe()
            os.dup2(writer, partition.log.segments[-1].file.fd)
            errors: list[LogError | None] = []
            for _ in range(3):
                commits.request(partition, errors.append)
            with pytest.raises(StorageError):
                await commits.wait(partition)
            await commits.drain()
            os.close(reader)
            os.close(writer)
            return errors

    errors = asyncio.run(run())
    assert [type(error) for error in errors] == [StorageError] * 3
    assert partition.high_watermark == 1
