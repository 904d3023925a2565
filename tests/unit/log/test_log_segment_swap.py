"""A crash at any moment of putting a compacted segment in place: all old records or all new."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import (
    NOW,
    SMALL_SEGMENTS,
    append,
    assert_files_are_sound,
    open_log,
    read_all,
    write_cleaned,
)

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.log import Log

KINDS = (".log", ".index", ".timeindex")
COUNT = 100


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A log whose first three segments have been compacted to a few records, not yet in place."""
    log = open_log(tmp_path, SMALL_SEGMENTS)
    for number in range(COUNT):
        append(log, b"value %03d" % number, timestamp=NOW + number)
    log.flush()
    assert len(log.segments) >= 4
    return log


def offsets_after_crash(log: Log) -> list[int]:
    recovered = open_log(
        log.directory.parent, SMALL_SEGMENTS, clean=False, recovery_point=log.recovery_point
    )
    assert_files_are_sound(log.directory)
    for ending in (".cleaned", ".swap", ".deleted"):
        assert not list(log.directory.glob(f"*{ending}"))
    for record in read_all(recovered):
        found = recovered.offset_for_timestamp(record.timestamp, COUNT)
        assert found is not None
        assert found.offset == record.offset
    return [record.offset for record in read_all(recovered)]


@pytest.mark.parametrize("kept", [[3, 9, 70], [3, 9], []], ids=["reaching", "short", "empty"])
def test_every_moment(log: Log, kept: list[int]) -> None:
    """Takes a picture of the directory before each step of the protocol and starts from it."""
    old = log.segments[:3]
    following = log.segments[3].base_offset
    assert not kept or kept[-1] < following
    before = list(range(COUNT))
    after = [*kept, *range(following, COUNT)]
    directory = log.directory
    write_cleaned(log, kept)
    # What follows repeats the protocol step by step; the last picture is what the log itself made.
    pictures: list[tuple[str, Path, list[int]]] = []

    def picture(moment: str, expected: list[int]) -> None:
        copy = directory.parent / moment / directory.name
        shutil.copytree(directory, copy)
        pictures.append((moment, copy, expected))

    picture("cleaned", before)
    step = directory.parent / "step" / directory.name
    shutil.copytree(directory, step)
    log.replace_segments(old, directory / f"{0:020d}")
    picture("done", after)
    # The log may have added an empty batch before it committed.
    committed = (directory / f"{0:020d}.log").read_bytes()
    (step / f"{0:020d}.log.cleaned").write_bytes(committed)
    directory = step
    for kind in KINDS:
        path = directory / f"{0:020d}{kind}.cleaned"
        path.rename(path.with_suffix(".swap"))
        picture(f"renamed{kind}", after if kind == KINDS[-1] else before)
    for segment in old:
        for kind in KINDS:
            path = directory / f"{segment.base_offset:020d}{kind}"
            path.rename(f"{path}.deleted")
            picture(f"deleted{segment.base_offset}{kind}", after)
    for kind in KINDS:
        path = directory / f"{0:020d}{kind}.swap"
        path.rename(path.with_suffix(""))
        picture(f"final{kind}", after)

    assert len(pictures) == 17
    for moment, copy, expected in pictures:
        recovered = open_log(
            copy.parent, SMALL_SEGMENTS, clean=False, recovery_point=log.recovery_point
        )
        assert [record.offset for record in read_all(recovered)] == expected, moment
        assert recovered.log_end_offset == COUNT, moment
        for ending in (".cleaned", ".swap", ".deleted"):
            assert not list(copy.glob(f"*{ending}")), moment
        assert_files_are_sound(copy)


def test_a_damaged_swap_does_not_replace_what_is_still_there(log: Log) -> None:
    write_cleaned(log, [3, 9])
    for kind in KINDS:
        path = log.directory / f"{0:020d}{kind}.cleaned"
        path.rename(path.with_suffix(".swap"))
    swap = log.directory / f"{0:020d}.log.swap"
    swap.write_bytes(swap.read_bytes()[:-3])

    assert offsets_after_crash(log) == list(range(COUNT))


def test_the_swapped_segment_keeps_the_age_of_the_old_ones(log: Log) -> None:
    for segment in log.segments[:3]:
        os.utime(segment.path(".log"), (1000, 1000 + segment.base_offset))
    expected = 1000 + log.segments[2].base_offset
    write_cleaned(log, [3, 9])

    log.replace_segments(log.segments[:3], log.directory / f"{0:020d}")

    assert (log.directory / f"{0:020d}.log").stat().st_mtime == expected
    assert offsets_after_crash(log)[:2] == [3, 9]
