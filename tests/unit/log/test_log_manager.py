from __future__ import annotations

import logging
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.unit.log.log_batches import NOW, SMALL_SEGMENTS, TOPIC_ID, append, values

from headwater.log.checkpoint import read_offsets, read_topic_id, write_offsets
from headwater.log.config import LogConfig
from headwater.log.errors import LogError, StorageError
from headwater.log.manager import LogManager

if TYPE_CHECKING:
    from pathlib import Path

ORDERS = ("orders", 0)
WANTED = {ORDERS: (TOPIC_ID, SMALL_SEGMENTS)}


def load(path: Path, wanted: dict[tuple[str, int], tuple[bytes, LogConfig]] = WANTED) -> LogManager:
    manager = LogManager(path, LogConfig())
    manager.load(wanted, NOW)
    return manager


def fill(manager: LogManager, count: int = 60) -> None:
    for number in range(count):
        append(manager.logs[ORDERS], b"value %03d" % number)


def test_a_fresh_directory_gets_the_wanted_logs(tmp_path: Path) -> None:
    manager = load(tmp_path / "new" / "data")

    assert set(manager.logs) == {ORDERS}
    directory = tmp_path / "new" / "data" / "orders-0"
    assert read_topic_id(directory / "partition.metadata") == TOPIC_ID


def test_a_clean_shutdown_is_believed_once(tmp_path: Path) -> None:
    manager = load(tmp_path)
    fill(manager)
    manager.logs[ORDERS].delete_records(7)
    manager.close()
    path = tmp_path / "orders-0" / f"{0:020d}.log"
    damaged = bytearray(path.read_bytes())
    damaged[70] ^= 0xFF
    path.write_bytes(damaged)

    assert (tmp_path / ".kafka_cleanshutdown").exists()
    again = load(tmp_path)
    assert not (tmp_path / ".kafka_cleanshutdown").exists()
    log = again.logs[ORDERS]
    assert (log.log_start_offset, log.log_end_offset, log.recovery_point) == (7, 60, 60)

    # This one is not closed, and its recovery point is lost: everything is checked.
    (tmp_path / "recovery-point-offset-checkpoint").unlink()
    assert load(tmp_path).logs[ORDERS].log_end_offset == 7


def test_after_a_crash_the_checkpoint_says_where_to_begin(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    manager = load(tmp_path)
    fill(manager)
    manager.checkpoint()
    closed = manager.logs[ORDERS].segments[-1].base_offset
    assert read_offsets(tmp_path / "recovery-point-offset-checkpoint") == {ORDERS: closed}
    path = tmp_path / "orders-0" / f"{0:020d}.log"
    damaged = bytearray(path.read_bytes())
    damaged[70] ^= 0xFF
    path.write_bytes(damaged)

    recovered = load(tmp_path)

    assert recovered.logs[ORDERS].log_end_offset == 60
    assert "was not shut down cleanly: checking the ends of 1 logs" in caplog.text
    # What recovery found is written down at once.
    assert read_offsets(tmp_path / "recovery-point-offset-checkpoint") == {ORDERS: 60}


def test_checkpoints_are_kafkas(tmp_path: Path) -> None:
    manager = load(tmp_path)
    fill(manager, 5)
    manager.logs[ORDERS].delete_records(2)
    manager.flush_all()
    manager.checkpoint()

    for name, content in (
        ("recovery-point-offset-checkpoint", "0\n1\norders 0 5\n"),
        ("replication-offset-checkpoint", "0\n1\norders 0 5\n"),
        ("log-start-offset-checkpoint", "0\n1\norders 0 2\n"),
    ):
        assert (tmp_path / name).read_text() == content


def test_damaged_checkpoints_are_done_without(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    manager = load(tmp_path)
    fill(manager, 5)
    manager.close()
    (tmp_path / "recovery-point-offset-checkpoint").write_text("garbage")
    (tmp_path / "log-start-offset-checkpoint").write_bytes(b"\xff\xfe")

    assert values(load(tmp_path).logs[ORDERS])[4] == b"value 004"
    assert caplog.text.count("Going on without it") == 2


def test_a_directory_that_no_topic_wants_is_set_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    manager = load(tmp_path)
    fill(manager, 5)
    manager.close()
    (tmp_path / "notes").mkdir()
    (tmp_path / "__cluster_metadata-0").mkdir()

    assert load(tmp_path, {}).logs == {}

    [stray] = tmp_path.glob("*-stray")
    assert stray.name.startswith("orders-0.")
    assert (stray / f"{0:020d}.log").stat().st_size > 0
    assert (tmp_path / "notes").exists()
    assert (tmp_path / "__cluster_metadata-0").exists()
    [warning] = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "no topic has such a partition" in warning.getMessage()
    caplog.clear()
    load(tmp_path, {})
    assert not caplog.records


def test_a_directory_of_an_older_topic_of_the_name_is_set_aside(tmp_path: Path) -> None:
    manager = load(tmp_path)
    fill(manager, 5)
    manager.close()
    other_id = bytes(reversed(TOPIC_ID))

    again = load(tmp_path, {ORDERS: (other_id, SMALL_SEGMENTS)})

    assert values(again.logs[ORDERS]) == []
    assert read_topic_id(tmp_path / "orders-0" / "partition.metadata") == other_id
    assert len(list(tmp_path.glob("orders-0.*-stray"))) == 1


def test_a_topic_id_lost_in_a_power_cut_is_written_again(tmp_path: Path) -> None:
    manager = load(tmp_path)
    fill(manager, 5)
    manager.close()
    for content in (b"", None):
        path = tmp_path / "orders-0" / "partition.metadata"
        path.unlink() if content is None else path.write_bytes(content)

        again = load(tmp_path)

        assert len(values(again.logs[ORDERS])) == 5
        assert read_topic_id(path) == TOPIC_ID


def test_a_lost_directory_is_reported_and_begun_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_offsets(tmp_path / "recovery-point-offset-checkpoint", {ORDERS: 70})
    write_offsets(tmp_path / "log-start-offset-checkpoint", {ORDERS: 30})

    log = load(tmp_path).logs[ORDERS]

    assert (log.log_start_offset, log.log_end_offset) == (30, 30)
    assert "the directory of orders-0 is missing" in caplog.text


def test_topics_come_and_go(tmp_path: Path) -> None:
    manager = load(tmp_path, {})
    config = LogConfig(file_delete_delay_ms=100)
    log = manager.create("a-b.c_d", 12, TOPIC_ID, config, NOW)
    append(log, b"a")
    with pytest.raises(LogError, match="exists already"):
        manager.create("a-b.c_d", 12, TOPIC_ID, config, NOW)

    manager.delete("a-b.c_d", 12)

    assert manager.logs == {}
    [deleted] = tmp_path.glob("*-delete")
    assert deleted.name.startswith("a-b.c_d-12.")
    with pytest.raises(LogError, match="There is no log"):
        manager.delete("a-b.c_d", 12)
    manager.apply_retention(NOW)
    manager.apply_retention(NOW + 99)
    assert deleted.exists()
    manager.apply_retention(NOW + 100)
    assert not deleted.exists()


def test_directories_left_to_delete_go_after_a_restart(tmp_path: Path) -> None:
    manager = load(tmp_path)
    manager.delete(*ORDERS)
    assert list(tmp_path.glob("*-delete"))

    again = load(tmp_path, {})
    again.apply_retention(NOW)

    assert not list(tmp_path.glob("*-delete"))


def test_a_new_topic_does_not_inherit_offsets_of_its_name(tmp_path: Path) -> None:
    manager = load(tmp_path)
    fill(manager)
    manager.logs[ORDERS].delete_records(50)
    manager.flush_all()
    manager.checkpoint()
    manager.delete(*ORDERS)

    append(manager.create(*ORDERS, TOPIC_ID, SMALL_SEGMENTS, NOW), b"new")

    assert read_offsets(tmp_path / "recovery-point-offset-checkpoint") == {}
    recovered = load(tmp_path).logs[ORDERS]
    assert (recovered.log_start_offset, recovered.log_end_offset) == (0, 1)


def test_topics_can_ask_for_flushes_by_count_and_by_time(tmp_path: Path) -> None:
    wanted = {
        ("count", 0): (TOPIC_ID, LogConfig(flush_messages=3)),
        ("time", 0): (TOPIC_ID, LogConfig(flush_ms=1000)),
        ("never", 0): (TOPIC_ID, LogConfig()),
    }
    manager = load(tmp_path, wanted)
    by_count, by_time, never = manager.logs.values()
    for log in manager.logs.values():
        append(log, b"a", b"b")

    assert manager.flush_due(NOW) == 0
    append(by_count, b"c")
    assert manager.flush_due(NOW + 999) == 1
    assert by_count.recovery_point == 3
    assert manager.flush_due(NOW + 1000) == 1
    assert by_time.recovery_point == 2
    append(by_time, b"c")
    assert manager.flush_due(NOW + 1500) == 0
    assert manager.flush_due(NOW + 2500) == 1
    assert never.recovery_point == 0


def test_retention_reaches_all_logs(tmp_path: Path) -> None:
    wanted = {
        ("orders", partition): (TOPIC_ID, LogConfig(retention_ms=1000, segment_bytes=200))
        for partition in range(3)
    }
    manager = load(tmp_path, wanted)
    for log in manager.logs.values():
        for _ in range(3):
            append(log, b"x" * 100)

    assert manager.apply_retention(NOW + 1001) == 9
    assert all(log.size == 0 for log in manager.logs.values())


def test_a_deleted_log_does_not_disturb_background_work(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    manager = load(tmp_path)
    fill(manager)
    log = manager.logs[ORDERS]
    manager.delete(*ORDERS)
    with pytest.raises(StorageError, match="deleted"):
        log.flush()

    manager.apply_retention(NOW)
    manager.checkpoint()
    manager.close()

    assert not caplog.records
    assert (tmp_path / ".kafka_cleanshutdown").exists()


def test_a_data_directory_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageError, match="Loading the logs"):
        load(tmp_path / "file" / "data")


def test_a_power_cut_after_a_stop_takes_nothing_that_a_start_needs(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = {("orders", index): (TOPIC_ID, LogConfig()) for index in range(3)}
    logs = LogManager(tmp_path, LogConfig())
    logs.load(wanted, NOW)
    append(logs.logs["orders", 0], b"kept")
    logs.close()
    # What a stop does not sync: the indexes of a few batches, and logs that are empty.
    for name in ("index", "timeindex"):
        (tmp_path / "orders-0" / f"{0:020d}.{name}").write_bytes(b"")
    shutil.rmtree(tmp_path / "orders-1")
    (tmp_path / "orders-2" / f"{0:020d}.log").unlink()

    again = LogManager(tmp_path, LogConfig())
    again.load(wanted, NOW)

    assert values(again.logs["orders", 0]) == [b"kept"]
    assert again.logs["orders", 0].segments[0].max_timestamp == NOW
    for index in (1, 2):
        assert append(again.logs["orders", index], b"first").base_offset == 0
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    again.close()
    last = LogManager(tmp_path, LogConfig())
    last.load(wanted, NOW)
    assert [values(log) for log in last.logs.values()] == [[b"kept"], [b"first"], [b"first"]]


def test_the_first_flush_of_a_log_that_was_empty_at_the_start_syncs_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {("orders", 0): (TOPIC_ID, LogConfig())}
    for _ in range(2):
        logs = LogManager(tmp_path, LogConfig())
        logs.load(wanted, NOW)
        logs.close()
    synced: list[Path] = []
    monkeypatch.setattr("headwater.log.flusher.sync_directory", synced.append)
    logs = LogManager(tmp_path, LogConfig())
    logs.load(wanted, NOW)
    log = logs.logs["orders", 0]
    append(log, b"first")
    log.flush()
    assert log.directory in synced
    synced.clear()
    append(log, b"second")
    log.flush()
    assert not synced
