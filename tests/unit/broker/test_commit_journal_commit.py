"""One commit for all partitions that were written to meanwhile, and what happens when one fails."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from headwater.broker.commit.journal_commit import JournalCommit
from headwater.broker.topics.partition import Partition
from headwater.log.config import LogConfig
from headwater.log.errors import LogError, StorageError
from headwater.log.journal.journal import LEAST_BYTES
from headwater.log.log import AppendOrigin
from headwater.log.manager import LogManager
from headwater.log.records.record import Record, encode_batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from headwater.log.journal.journal import Journal
    from headwater.log.journal.journal_format import LogId
    from headwater.log.log import Log, LogPosition

NOW_MS = 1_700_000_000_000
TOPIC_ID = bytes(16)


@pytest.fixture
def logs(tmp_path: Path) -> Iterator[LogManager]:
    manager = LogManager(tmp_path, LogConfig(), LEAST_BYTES)
    manager.load({("t", index): (TOPIC_ID, LogConfig()) for index in range(3)}, NOW_MS)
    yield manager
    manager.close()


def append(partition: Partition) -> None:
    batch = encode_batch([Record(0, NOW_MS, None, b"value")])
    partition.append(memoryview(batch), NOW_MS, AppendOrigin.CLIENT)


@contextmanager
def committing(executor: Executor, journal: Journal) -> Iterator[JournalCommit]:
    commits = JournalCommit(asyncio.get_running_loop(), executor, journal)
    try:
        yield commits
    finally:
        commits.close()


class SlowCommit:
    """Counts a journal's commits and holds each one back until it is let go."""

    def __init__(self, journal: Journal) -> None:
        self._commit = journal.commit
        self.go = threading.Semaphore(0)
        self.began = threading.Semaphore(0)
        self.sizes: list[int] = []

    def __call__(self, logs: Sequence[tuple[LogId, Log]]) -> list[LogPosition | LogError]:
        self.sizes.append(len(logs))
        self.began.release()
        self.go.acquire()
        return self._commit(logs)


def test_what_arrives_during_a_commit_shares_the_next_one(logs: LogManager) -> None:
    partitions = [Partition("t", TOPIC_ID, key[1], log) for key, log in logs.logs.items()]
    journal = logs.journal
    assert journal is not None
    slow = SlowCommit(journal)
    journal.commit = slow  # type: ignore[method-assign]

    async def run() -> list[int]:
        with ThreadPoolExecutor(1) as executor, committing(executor, journal) as commits:
            durable: list[int] = []

            def produce(number: int) -> None:
                append(partitions[number])
                commits.request(partitions[number], lambda error: durable.append(number))

            produce(0)
            produce(1)
            await asyncio.to_thread(slow.began.acquire)
            for number in (0, 1, 2, 2):
                produce(number)
            assert [partition.high_watermark for partition in partitions] == [0, 0, 0]
            slow.go.release()
            await asyncio.to_thread(slow.began.acquire)
            await asyncio.sleep(0)
            assert durable == [0, 1]
            slow.go.release()
            await commits.drain()
            assert commits.flush_times.count == 2
            return durable

    assert sorted(asyncio.run(run())) == [0, 0, 1, 1, 2, 2]
    assert slow.sizes == [2, 3]
    assert [partition.high_watermark for partition in partitions] == [2, 2, 2]


def test_a_log_that_is_gone_fails_its_own_requests_alone(logs: LogManager) -> None:
    gone, kept, _ = (Partition("t", TOPIC_ID, key[1], log) for key, log in logs.logs.items())
    journal = logs.journal
    assert journal is not None

    async def run() -> list[LogError | None]:
        with ThreadPoolExecutor(1) as executor, committing(executor, journal) as commits:
            errors: list[LogError | None] = []
            append(gone)
            append(kept)
            logs.delete("t", 0)
            commits.request(gone, errors.append)
            commits.request(kept, errors.append)
            with pytest.raises(StorageError):
                await commits.wait(gone)
            await commits.drain()
            return errors

    refused, accepted = asyncio.run(run())
    assert isinstance(refused, StorageError)
    assert accepted is None
    assert (gone.high_watermark, kept.high_watermark) == (0, 1)


def test_a_defect_is_told_to_everyone_who_waited(
    logs: LogManager, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition = Partition("t", TOPIC_ID, 0, logs.logs["t", 0])
    journal = logs.journal
    assert journal is not None

    def defect(_: object) -> list[LogPosition | LogError]:
        raise ValueError("a defect")

    async def run() -> None:
        with ThreadPoolExecutor(1) as executor, committing(executor, journal) as commits:
            append(partition)
            with monkeypatch.context() as patch:
                patch.setattr(journal, "commit", defect)
                with pytest.raises(StorageError, match="a defect"):
                    await commits.wait(partition)
            await commits.wait(partition)

    asyncio.run(run())
    assert partition.high_watermark == 1
