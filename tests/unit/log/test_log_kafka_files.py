"""Directories that Apache Kafka wrote: they open unchanged, and our indexes equal Kafka's."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.unit.log.log_batches import append, assert_files_are_sound, open_log, read_all

from headwater.log.config import LogConfig

KAFKA_SEGMENTS = Path(__file__).parent / "kafka_segments"
SEGMENT = f"{0:020d}"


def copied(name: str, tmp_path: Path) -> Path:
    directory = tmp_path / "orders-0"
    directory.mkdir()
    for path in (KAFKA_SEGMENTS / name).glob(f"{SEGMENT}.*"):
        shutil.copy(path, directory)
    return directory


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("name", sorted(path.name for path in KAFKA_SEGMENTS.iterdir()))
def test_kafkas_segments_open_whole(
    tmp_path: Path, name: str, clean: bool, caplog: pytest.LogCaptureFixture
) -> None:
    path = copied(name, tmp_path) / f"{SEGMENT}.log"
    before = path.read_bytes()

    log = open_log(tmp_path, clean=clean)

    assert path.read_bytes() == before
    assert "cut" not in caplog.text
    assert [record.offset for record in read_all(log)] == list(range(log.log_end_offset))
    assert log.leader_epoch == 0 or clean
    assert append(log, b"next").last_offset == log.log_end_offset - 1
    log.close()
    assert_files_are_sound(log.directory)


def test_rebuilt_indexes_are_kafkas_byte_for_byte(tmp_path: Path) -> None:
    directory = copied("index", tmp_path)
    kafkas = {
        kind: (directory / f"{SEGMENT}{kind}").read_bytes() for kind in (".index", ".timeindex")
    }
    assert all(kafkas.values())
    # Kafka had one entry for each batch but the first.
    config = LogConfig(index_interval_bytes=1)

    open_log(tmp_path, config, clean=True)
    assert (directory / f"{SEGMENT}.index").read_bytes() == kafkas[".index"]

    for kind in kafkas:
        (directory / f"{SEGMENT}{kind}").unlink()
    open_log(tmp_path, config, clean=False)
    assert {kind: (directory / f"{SEGMENT}{kind}").read_bytes() for kind in kafkas} == kafkas
