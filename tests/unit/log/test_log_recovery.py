"""What a start makes of a directory: after a clean shutdown, after a crash, after damage."""

from __future__ import annotations

import logging
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
    values,
)

from headwater.log.config import LogConfig
from headwater.log.errors import StorageError

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.log.log import Log

EXPECTED = [b"value %03d" % number for number in range(60)]


@pytest.fixture
def crashed(tmp_path: Path) -> Log:
    """A log of several segments that was never closed; its process might have been killed."""
    log = open_log(tmp_path, SMALL_SEGMENTS)
    for number, value in enumerate(EXPECTED):
        append(log, value, timestamp=NOW + number, epoch=number // 25)
    assert len(log.segments) >= 3
    return log


def reopen(log: Log, **options: int | bool) -> Log:
    return open_log(log.directory.parent, SMALL_SEGMENTS, **{"clean": False, **options})


def last_file(log: Log) -> Path:
    return log.directory / f"{log.segments[-1].base_offset:020d}.log"


def test_everything_is_there_after_a_crash(crashed: Log, caplog: pytest.LogCaptureFixture) -> None:
    recovered = reopen(crashed)

    assert values(recovered) == EXPECTED
    assert recovered.end == crashed.end
    assert recovered.recovery_point == 60
    assert recovered.epoch_end_offset(0) == (0, 25)
    assert recovered.epoch_end_offset(1) == (1, 50)
    assert recovered.max_timestamp() == crashed.max_timestamp()
    assert not caplog.records
    assert_files_are_sound(crashed.directory)


def test_a_torn_end_is_cut_at_the_last_whole_batch(
    crashed: Log, caplog: pytest.LogCaptureFixture
) -> None:
    path = last_file(crashed)
    whole = path.read_bytes()
    size = whole.index(EXPECTED[59]) - whole.index(EXPECTED[58])
    start = len(whole) - size

    for length in range(start, len(whole)):
        caplog.clear()
        path.write_bytes(whole[:length])
        recovered = reopen(crashed)
        assert recovered.log_end_offset == 59
        assert path.stat().st_size == start
        assert values(recovered) == EXPECTED[:59]
        if length > start:
            [warning] = caplog.records
            assert warning.levelno == logging.WARNING
            assert f"cut the last {length - start} of {length} bytes" in warning.getMessage()
            assert "ends at offset 59" in warning.getMessage()
        assert append(recovered, b"next").base_offset == 59


def test_any_flipped_bit_in_the_last_batch_cuts_it(crashed: Log) -> None:
    path = last_file(crashed)
    whole = path.read_bytes()
    size = whole.index(EXPECTED[59]) - whole.index(EXPECTED[58])

    for position in range(len(whole) - size, len(whole)):
        within = position - (len(whole) - size)
        for bit in (0x01, 0x80):
            damaged = bytearray(whole)
            damaged[position] ^= bit
            path.write_bytes(damaged)
            recovered = reopen(crashed)
            # The leader epoch and a base offset that still fits are not under the CRC.
            if 12 <= within < 16 or (within < 8 and recovered.log_end_offset > 60):
                continue
            assert values(recovered) == EXPECTED[:59], f"byte {within} of the batch"
            assert recovered.log_end_offset == 59


def test_zeros_after_a_power_cut_are_cut_off(crashed: Log) -> None:
    path = last_file(crashed)
    with path.open("ab") as file:
        file.write(bytes(5000))

    assert values(reopen(crashed)) == EXPECTED


def test_everything_after_a_bad_batch_goes_with_it(
    crashed: Log, caplog: pytest.LogCaptureFixture
) -> None:
    second = crashed.segments[1]
    path = crashed.directory / f"{second.base_offset:020d}.log"
    data = bytearray(path.read_bytes())
    data[second.size // 2] ^= 0xFF
    path.write_bytes(data)

    recovered = reopen(crashed)

    assert second.base_offset < recovered.log_end_offset < crashed.segments[2].base_offset
    assert values(recovered) == EXPECTED[: recovered.log_end_offset]
    assert [segment.base_offset for segment in recovered.segments] == [0, second.base_offset]
    assert (
        sum("comes after the cut" in record.getMessage() for record in caplog.records)
        == len(crashed.segments) - 2
    )
    assert not list(crashed.directory.glob(f"{crashed.segments[2].base_offset:020d}*"))
    assert append(recovered, b"next").base_offset == recovered.log_end_offset - 1
    assert_files_are_sound(crashed.directory)


def test_batches_out_of_order_are_cut_off(crashed: Log) -> None:
    path = last_file(crashed)
    first_batch = (crashed.directory / f"{0:020d}.log").read_bytes()[:79]
    with path.open("ab") as file:
        file.write(first_batch)

    assert values(reopen(crashed)) == EXPECTED


def test_what_lies_below_the_recovery_point_is_not_read_again(crashed: Log) -> None:
    crashed.flush()
    path = crashed.directory / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[70] ^= 0xFF
    path.write_bytes(data)

    recovered = reopen(crashed, recovery_point=60)

    assert recovered.log_end_offset == 60
    assert (
        values(recovered, crashed.segments[1].base_offset)
        == EXPECTED[crashed.segments[1].base_offset :]
    )


def test_a_segment_that_ends_at_the_recovery_point_is_checked(tmp_path: Path) -> None:
    log = open_log(tmp_path, SMALL_SEGMENTS)
    for value in EXPECTED[:20]:
        append(log, value)
    end = log.flush()
    log.roll(NOW)
    # The roll is not followed by a flush, and a power cut takes the indexes of the old segment.
    for kind in ("index", "timeindex"):
        (log.directory / f"{0:020d}.{kind}").write_bytes(b"")

    recovered = reopen(log, recovery_point=end.offset)

    assert values(recovered) == EXPECTED[:20]
    assert recovered.segments[0].max_timestamp == NOW
    assert recovered.segments[0].offset_index.count > 0


def test_a_recovery_point_beyond_the_end_is_taken_back(crashed: Log) -> None:
    recovered = reopen(crashed, recovery_point=1000)

    assert values(recovered) == EXPECTED
    assert recovered.recovery_point == 60


def test_a_clean_start_does_not_look_at_the_batches(crashed: Log) -> None:
    crashed.close()
    path = crashed.directory / f"{0:020d}.log"
    data = bytearray(path.read_bytes())
    data[70] ^= 0xFF
    path.write_bytes(data)

    opened = reopen(crashed, clean=True)

    assert opened.end == crashed.end
    assert opened.recovery_point == 60
    assert path.read_bytes() == data
    assert [segment.max_timestamp for segment in opened.segments] == [
        segment.max_timestamp for segment in crashed.segments
    ]


def test_a_torn_end_is_cut_even_if_the_shutdown_seemed_clean(crashed: Log) -> None:
    crashed.close()
    path = last_file(crashed)
    path.write_bytes(path.read_bytes()[:-1])

    opened = reopen(crashed, clean=True)

    assert values(opened) == EXPECTED[:59]
    assert opened.recovery_point == 59


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("kind", ["index", "timeindex"])
@pytest.mark.parametrize("damage", ["missing", "odd", "garbage"])
def test_indexes_are_built_anew(crashed: Log, clean: bool, kind: str, damage: str) -> None:
    crashed.close()
    for path in crashed.directory.glob(f"*.{kind}"):
        if damage == "missing":
            path.unlink()
        elif damage == "odd":
            path.write_bytes(path.read_bytes() + b"x")
        else:
            path.write_bytes(b"\xff" * 48)

    opened = reopen(crashed, clean=clean, recovery_point=60)

    for offset in range(60):
        assert read_all(opened, offset)[0].value == EXPECTED[offset]
        found = opened.offset_for_timestamp(NOW + offset, 60)
        assert found is not None
        assert found.offset == offset
    assert_files_are_sound(crashed.directory)


def test_an_index_without_a_segment_goes(crashed: Log) -> None:
    crashed.close()
    orphan = crashed.directory / f"{777:020d}.index"
    orphan.write_bytes(b"")

    assert values(reopen(crashed, clean=True)) == EXPECTED
    assert not orphan.exists()


def test_files_of_removed_segments_go_at_the_next_start(crashed: Log) -> None:
    crashed.flush()
    crashed.delete_records(40)
    crashed.apply_retention(NOW)
    assert list(crashed.directory.glob("*.deleted"))

    opened = reopen(crashed)

    assert not list(crashed.directory.glob("*.deleted"))
    assert opened.log_start_offset == crashed.segments[0].base_offset <= 40


def test_log_start_comes_from_the_checkpoint(crashed: Log) -> None:
    opened = reopen(crashed, log_start_offset=33)

    assert opened.log_start_offset == 33
    assert values(opened) == EXPECTED[33:]


def test_a_log_that_ends_before_its_start_begins_anew(
    crashed: Log, caplog: pytest.LogCaptureFixture
) -> None:
    opened = reopen(crashed, log_start_offset=500)

    assert (opened.log_start_offset, opened.log_end_offset) == (500, 500)
    assert append(opened, b"next").base_offset == 500
    assert "files have been removed" in caplog.text
    assert [segment.base_offset for segment in opened.segments] == [500]


def test_leader_epochs_are_read_from_the_batches_if_their_file_is_damaged(crashed: Log) -> None:
    crashed.close()
    (crashed.directory / "leader-epoch-checkpoint").write_text("garbage")

    opened = reopen(crashed, clean=True)

    assert [opened.epoch_of(offset) for offset in (0, 24, 25, 49, 50)] == [0, 0, 1, 1, 2]


@pytest.mark.parametrize("written", ["", "0\n1\n0 0\n"])
def test_leader_epochs_that_no_checkpoint_has_are_read_from_the_batches(
    tmp_path: Path, written: str
) -> None:
    log = open_log(tmp_path)
    append(log, b"a", epoch=0)
    append(log, b"b", epoch=3)
    log.close()
    if written:
        (log.directory / "leader-epoch-checkpoint").write_text(written)

    opened = reopen(log, clean=True)

    assert [opened.epoch_of(offset) for offset in (0, 1)] == [0, 3]


def test_leader_epochs_are_read_from_the_batches_after_a_crash_before_they_were_written(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path)
    append(log, b"a", epoch=1)
    log.flush()
    append(log, b"b", epoch=2)
    log.flush()

    opened = reopen(log, clean=False, recovery_point=log.recovery_point)

    assert [opened.epoch_of(offset) for offset in (0, 1)] == [1, 2]


@pytest.mark.parametrize("clean", [True, False])
def test_a_checkpoint_that_tells_of_lost_batches_does_not_hide_where_an_epoch_began(
    tmp_path: Path, clean: bool
) -> None:
    log = open_log(tmp_path)
    append(log, b"a", epoch=1)
    end_of_first = log.segments[0].size
    append(log, b"b", epoch=2)
    log.close()
    (log.directory / "leader-epoch-checkpoint").write_text("0\n2\n1 0\n2 1\n")
    with (log.directory / f"{0:020d}.log").open("r+b") as file:
        file.truncate(end_of_first + 10)
    cut = reopen(log, clean=False)
    assert cut.log_end_offset == 1
    append(cut, b"c", epoch=1)
    append(cut, b"d", epoch=2)
    if clean:
        cut.close()

    opened = reopen(cut, clean=clean)

    assert [opened.epoch_of(offset) for offset in (0, 1, 2)] == [1, 1, 2]


def test_leader_epochs_of_lost_batches_are_forgotten(crashed: Log) -> None:
    crashed.close()
    for segment in crashed.segments[1:]:
        for kind in ("log", "index", "timeindex"):
            (crashed.directory / f"{segment.base_offset:020d}.{kind}").unlink()

    opened = reopen(crashed, clean=True)

    assert opened.leader_epoch == 0
    assert opened.epoch_end_offset(1) == (-1, -1)


def test_large_batches_are_checked_piece_by_piece(tmp_path: Path) -> None:
    config = LogConfig(max_message_bytes=10 << 20)
    log = open_log(tmp_path, config)
    large = bytes(range(256)) * 4096 * 5
    append(log, b"small")
    append(log, large)
    append(log, b"after")
    assert values(open_log(tmp_path, config, clean=False)) == [b"small", large, b"after"]

    path = last_file(log)
    data = bytearray(path.read_bytes())
    data[4 << 20] ^= 1
    path.write_bytes(data)
    assert values(open_log(tmp_path, config, clean=False)) == [b"small"]


def test_a_directory_of_an_empty_log_opens(tmp_path: Path) -> None:
    open_log(tmp_path).close()
    assert open_log(tmp_path, clean=False).log_end_offset == 0

    shutil.rmtree(tmp_path / "orders-0")
    (tmp_path / "orders-0").mkdir()
    assert append(open_log(tmp_path, clean=False, log_start_offset=7), b"x").base_offset == 7


def test_a_directory_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "orders-0").write_text("a file is in the way")

    with pytest.raises(StorageError, match=r"Opening the log .*orders-0 failed"):
        open_log(tmp_path)
