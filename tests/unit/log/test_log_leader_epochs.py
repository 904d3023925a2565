from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.log.leader_epochs import LeaderEpochs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def epochs(tmp_path: Path) -> LeaderEpochs:
    epochs = LeaderEpochs(tmp_path)
    for epoch, start in ((1, 0), (3, 100), (4, 250)):
        epochs.assign(epoch, start)
    return epochs


def test_only_a_new_epoch_makes_an_entry(epochs: LeaderEpochs) -> None:
    epochs.assign(4, 300)
    epochs.assign(2, 310)

    assert epochs.entries == ((1, 0), (3, 100), (4, 250))
    assert epochs.latest == 4


def test_an_epoch_without_records_gives_way_to_the_next(epochs: LeaderEpochs) -> None:
    epochs.assign(5, 250)

    assert epochs.entries == ((1, 0), (3, 100), (5, 250))


def test_they_survive_a_restart(epochs: LeaderEpochs, tmp_path: Path) -> None:
    epochs.write()

    reloaded = LeaderEpochs(tmp_path)
    reloaded.load()

    assert reloaded.entries == epochs.entries
    assert reloaded.latest == 4


def test_a_change_makes_the_file_stale_until_it_is_written(epochs: LeaderEpochs) -> None:
    stale = [epochs.is_dirty]
    epochs.write()
    stale.append(epochs.is_dirty)
    epochs.truncate_from_end(1000)
    stale.append(epochs.is_dirty)
    epochs.truncate_from_end(200)
    stale.append(epochs.is_dirty)

    assert stale == [True, False, False, True]


@pytest.mark.parametrize(
    ("epoch", "answer"),
    [(-1, (-1, -1)), (0, (0, 0)), (1, (1, 100)), (2, (1, 100)), (3, (3, 250)), (4, (4, 999)),
     (5, (-1, -1))],
)  # fmt: skip
def test_end_of_an_epoch_is_the_start_of_the_next(
    epochs: LeaderEpochs, epoch: int, answer: tuple[int, int]
) -> None:
    assert epochs.end_of(epoch, 999) == answer


@pytest.mark.parametrize(("offset", "epoch"), [(0, 1), (99, 1), (100, 3), (249, 3), (1000, 4)])
def test_epoch_of_an_offset(epochs: LeaderEpochs, offset: int, epoch: int) -> None:
    assert epochs.epoch_of(offset) == epoch


def test_what_the_log_has_lost_at_its_end_is_forgotten(epochs: LeaderEpochs) -> None:
    epochs.truncate_from_end(250)

    assert epochs.entries == ((1, 0), (3, 100))
    assert epochs.latest == 3


def test_a_log_cut_to_nothing_has_no_epochs(epochs: LeaderEpochs) -> None:
    epochs.truncate_from_end(0)

    assert epochs.entries == ()
    assert epochs.latest == -1
    assert epochs.epoch_of(0) == -1


@pytest.mark.parametrize(
    ("start", "left"),
    [(0, ((1, 0), (3, 100), (4, 250))), (50, ((1, 50), (3, 100), (4, 250))),
     (100, ((3, 100), (4, 250))), (101, ((3, 101), (4, 250))), (700, ((4, 700),))],
)  # fmt: skip
def test_what_lies_before_the_log_start_is_forgotten(
    epochs: LeaderEpochs, start: int, left: tuple[tuple[int, int], ...]
) -> None:
    epochs.truncate_from_start(start)

    assert epochs.entries == left
