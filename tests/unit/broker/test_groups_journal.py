"""The journal of a shard on a real partition: batches, their order, and what fails."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.unit.broker.admin import running

from headwater.broker.groups.environment import Producer
from headwater.broker.groups.journal import PartitionJournal
from headwater.broker.groups.record_fields import CoordinatorRecord
from headwater.log.errors import StorageError
from headwater.log.records.batch import parse_header
from headwater.log.records.record import decode_records
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from headwater.broker.topics.partition import Partition
    from headwater.log.records.batch import BatchHeader

NONE = ErrorCode.NONE


def record(name: str, size: int = 1) -> CoordinatorRecord:
    return CoordinatorRecord(name.encode(), b"x" * size)


class Bench:
    """A journal, its partition, and what it called back."""

    def __init__(self, journal: PartitionJournal, partition: Partition) -> None:
        self.journal = journal
        self.partition = partition
        self.stored: list[tuple[str, ErrorCode]] = []
        self._news = asyncio.Event()
        self.appended: list[tuple[str, int]] = []

    def append(self, name: str, producer: Producer | None = None) -> int:
        return self.journal.append([record(name)], partial(self._is_stored, name), producer)

    def enqueue(self, name: str, size: int = 1) -> None:
        self.journal.enqueue(
            [record(name, size)],
            lambda offset: self.appended.append((name, offset)),
            partial(self._is_stored, name),
        )

    def when_stored(self, name: str) -> None:
        self.journal.when_stored(partial(self._is_stored, name))

    async def until_stored(self, count: int) -> list[str]:
        while len(self.stored) < count:
            self._news.clear()
            await self._news.wait()
        return [name for name, _ in self.stored]

    def _is_stored(self, name: str, code: ErrorCode) -> None:
        self.stored.append((name, code))
        self._news.set()

    def batches(self) -> list[tuple[BatchHeader, list[str]]]:
        log = self.partition.log
        found = []
        offset = log.log_start_offset
        while offset < log.log_end_offset:
            data = log.read(offset, 1 << 20, log.end).read()
            header = parse_header(data)
            keys = [(one.key or b"").decode() for one in decode_records(data[: header.size])]
            found.append((header, keys))
            offset = header.next_offset
        return found


@pytest.fixture(params=["fsync", "os"])
def flush(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def benches(directory: Path, flush: str = "fsync") -> AsyncIterator[Bench]:
    async with running(directory, flush=flush, offsets_topic_num_partitions="1") as admin:
        await admin.broker.groups.ensure_topic()
        partition = admin.broker.topics.by_name["__consumer_offsets"].partitions[0]
        yield Bench(PartitionJournal(admin.broker, partition), partition)


def test_commits_of_one_round_share_a_batch(tmp_path: Path, flush: str) -> None:
    async def test() -> None:
        async for bench in benches(tmp_path, flush):
            for name in "abc":
                bench.enqueue(name)
            assert bench.appended == []
            assert await bench.until_stored(3) == ["a", "b", "c"]
            assert bench.appended == [("a", 0), ("b", 1), ("c", 2)]
            assert [keys for _, keys in bench.batches()] == [["a", "b", "c"]]
            assert bench.partition.high_watermark == 3

    asyncio.run(test())


def test_what_is_appended_comes_after_what_was_enqueued(tmp_path: Path, flush: str) -> None:
    async def test() -> None:
        async for bench in benches(tmp_path, flush):
            bench.enqueue("a")
            assert bench.append("b") == 1
            assert bench.appended == [("a", 0)]
            assert bench.stored == [], "nobody is called back while it is still asking"
            bench.enqueue("c")
            bench.when_stored("all")
            assert await bench.until_stored(4) == ["a", "b", "c", "all"]
            assert [keys for _, keys in bench.batches()] == [["a"], ["b"], ["c"]]

    asyncio.run(test())


def test_nothing_to_wait_for_is_told_at_once(tmp_path: Path) -> None:
    async def test() -> None:
        async for bench in benches(tmp_path):
            bench.when_stored("all")
            assert bench.stored == [("all", NONE)]

    asyncio.run(test())


def test_a_transaction_has_its_own_batch(tmp_path: Path) -> None:
    async def test() -> None:
        async for bench in benches(tmp_path):
            bench.append("t", Producer(7, 3))
            await bench.until_stored(1)
            ((header, _),) = bench.batches()
            assert (header.producer_id, header.producer_epoch) == (7, 3)
            assert header.is_transactional

    asyncio.run(test())


def test_one_commit_that_is_too_large_does_not_harm_the_others(tmp_path: Path) -> None:
    async def test() -> None:
        async for bench in benches(tmp_path):
            limit = bench.partition.log.config.max_message_bytes
            bench.enqueue("a")
            bench.enqueue("large", limit + 1)
            bench.enqueue("b")
            await bench.until_stored(3)
            assert dict(bench.stored) == {
                "a": NONE,
                "large": ErrorCode.MESSAGE_TOO_LARGE,
                "b": NONE,
            }
            assert [keys for _, keys in bench.batches()] == [["a"], ["b"]]

    asyncio.run(test())


def test_a_full_disk_refuses_both_kinds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        async for bench in benches(tmp_path):
            with monkeypatch.context() as broken:

                def refuse(*_: object, **__: object) -> None:
                    raise StorageError("No space left on device.")

                broken.setattr(bench.partition.log, "append", refuse)
                with pytest.raises(KafkaError) as refused:
                    bench.append("a")
                assert refused.value.code is ErrorCode.KAFKA_STORAGE_ERROR
                bench.enqueue("b")
                await bench.until_stored(1)
            assert bench.stored == [("b", ErrorCode.KAFKA_STORAGE_ERROR)]
            assert bench.appended == []
            bench.enqueue("c")
            await bench.until_stored(2)
            assert bench.stored[-1] == ("c", NONE)

    asyncio.run(test())


def test_one_who_fails_on_its_answer_does_not_harm_the_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        async for bench in benches(tmp_path):

            def fail(_: ErrorCode) -> None:
                raise ValueError("cannot answer")

            bench.journal.enqueue([record("a")], lambda _: None, fail)
            bench.enqueue("b")
            await bench.until_stored(1)
            assert bench.stored == [("b", NONE)]

    asyncio.run(test())
    assert "cannot answer" in caplog.text
