"""Producer ids: never the same twice, whatever happens to the broker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from headwater.broker.transactions.producer_ids import (
    BLOCK_SIZE,
    FILE_NAME,
    REPAIR_MARGIN,
    ProducerIds,
)
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


@pytest.mark.parametrize("content", ["a few", "", "-5", "\x00\x00\x00\x00", "0017", "\xff12"])
def test_a_damaged_file_is_repaired_far_above_what_the_logs_know(
    tmp_path: Path, content: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE_NAME).write_text(content, encoding="latin-1")
    first = allocate(tmp_path, 1, first_unused=4711)
    assert first == [4711 + REPAIR_MARGIN]
    [told] = caplog.records
    assert FILE_NAME in told.getMessage()
    assert "the logs have ids up to 4710" in told.getMessage()
    # The next life finds it in order.
    caplog.clear()
    assert allocate(tmp_path, 1, first_unused=4712 + REPAIR_MARGIN)[0] == first[0] + BLOCK_SIZE
    assert not caplog.records


def test_a_sound_file_does_not_wait_for_the_logs(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("5000\n")

    def still_loading() -> int:
        raise KafkaError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "Try again.")

    async def run() -> int:
        return await ProducerIds(tmp_path, still_loading).allocate()

    assert asyncio.run(run()) == 5000


def test_a_file_that_cannot_be_read_is_told_once_and_answered(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE_NAME).mkdir()

    async def run() -> None:
        ids = ProducerIds(tmp_path, lambda: 0)
        for _ in range(5):
            with pytest.raises(KafkaError, match="Reading the producer ids failed") as error:
                await ids.allocate()
            assert error.value.code is ErrorCode.COORDINATOR_NOT_AVAILABLE

    asyncio.run(run())
    told = [record.getMessage() for record in caplog.records]
    assert len([line for line in told if "can't give out producer ids" in line]) <= 1


def test_a_cancelled_request_does_not_stop_the_others(tmp_path: Path) -> None:
    async def run() -> int:
        ids = ProducerIds(tmp_path, lambda: 0)
        impatient = asyncio.create_task(ids.allocate())
        patient = asyncio.create_task(ids.allocate())
        await asyncio.sleep(0)
        impatient.cancel()
        return await patient

    assert asyncio.run(run()) == 0
