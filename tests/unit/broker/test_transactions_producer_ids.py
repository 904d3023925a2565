"""Producer ids: never the same twice, whatever happens to the broker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from headwater.broker.transactions.producer_ids import BLOCK_SIZE, FILE_NAME, ProducerIds
from headwater.protocol.errors import ErrorCode, KafkaError

if TYPE_CHECKING:
    from pathlib import Path


def allocate(directory: Path, count: int, first_unused: int = 0) -> list[int]:
    """Take ids as one life of a broker does, which then ends without a word."""

    async def run() -> list[int]:
        ids = ProducerIds(directory, lambda: first_unused)
        return [await ids.allocate() for _ in range(count)]

    return asyncio.run(run())


def test_ids_count_up_from_zero(tmp_path: Path) -> None:
    assert allocate(tmp_path, 3) == [0, 1, 2]


def test_no_id_comes_twice_over_many_lives(tmp_path: Path) -> None:
    seen: list[int] = []
    for count in (1, 7, BLOCK_SIZE - 1, BLOCK_SIZE, 2 * BLOCK_SIZE + 3, 1):
        seen += allocate(tmp_path, count)
    assert len(seen) == len(set(seen))
    assert seen == sorted(seen)


def test_many_at_once_get_different_ids(tmp_path: Path) -> None:
    async def run() -> list[int]:
        ids = ProducerIds(tmp_path, lambda: 0)
        taken = await asyncio.gather(*(ids.allocate() for _ in range(3 * BLOCK_SIZE)))
        await ids.close()
        return taken

    taken = asyncio.run(run())
    assert sorted(taken) == list(range(3 * BLOCK_SIZE))


def test_the_ids_of_logs_from_elsewhere_are_not_given_out_again(tmp_path: Path) -> None:
    assert allocate(tmp_path, 2, first_unused=4711) == [4711, 4712]


def test_a_damaged_file_is_not_guessed_at(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("a few")
    with pytest.raises(KafkaError, match="Restore it from a backup") as error:
        allocate(tmp_path, 1)
    assert error.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_a_cancelled_request_does_not_stop_the_others(tmp_path: Path) -> None:
    async def run() -> int:
        ids = ProducerIds(tmp_path, lambda: 0)
        impatient = asyncio.create_task(ids.allocate())
        patient = asyncio.create_task(ids.allocate())
        await asyncio.sleep(0)
        impatient.cancel()
        return await patient

    assert asyncio.run(run()) == 0
