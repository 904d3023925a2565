from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.log.checkpoint import (
    CLEAN_SHUTDOWN,
    CorruptCheckpoint,
    MetaProperties,
    read_epochs,
    read_meta_properties,
    read_offsets,
    read_topic_id,
    take_clean_shutdown,
    write_clean_shutdown,
    write_epochs,
    write_meta_properties,
    write_offsets,
    write_topic_id,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_offsets_have_kafkas_form_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "recovery-point-offset-checkpoint"
    offsets = {("orders", 10): 1 << 40, ("orders", 9): 0, ("a.b_c-1", 0): 7}

    write_offsets(path, offsets)

    assert path.read_text() == "0\n3\na.b_c-1 0 7\norders 9 0\norders 10 1099511627776\n"
    assert read_offsets(path) == offsets
    assert list(tmp_path.iterdir()) == [path]


def test_epochs_have_kafkas_form_and_come_back(tmp_path: Path) -> None:
    path = tmp_path / "leader-epoch-checkpoint"

    write_epochs(path, [(0, 0), (3, 120)])

    assert path.read_text() == "0\n2\n0 0\n3 120\n"
    assert read_epochs(path) == [(0, 0), (3, 120)]


def test_missing_files_are_empty(tmp_path: Path) -> None:
    assert read_offsets(tmp_path / "none") == {}
    assert read_epochs(tmp_path / "none") == []
    assert read_topic_id(tmp_path / "none") is None
    assert read_meta_properties(tmp_path / "none") is None


@pytest.mark.parametrize(
    "content",
    [b"", b"0\n", b"1\n0\n", b"0\n2\norders 0 5\n", b"0\n1\norders 0\n", b"0\n1\norders zero 5\n",
     b"0\nx\n", b"\x00\xff\x00\xff"],
)  # fmt: skip
def test_damaged_offsets_are_refused_with_the_files_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log-start-offset-checkpoint"
    path.write_bytes(content)

    with pytest.raises(CorruptCheckpoint, match="log-start-offset-checkpoint"):
        read_offsets(path)


def test_partition_metadata_is_kafkas(tmp_path: Path) -> None:
    path = tmp_path / "partition.metadata"
    topic_id = bytes.fromhex("fbff" + "00" * 13 + "01")

    write_topic_id(path, topic_id)

    assert path.read_text() == "version: 0\ntopic_id: -_8AAAAAAAAAAAAAAAAAAQ"
    assert read_topic_id(path) == topic_id


@pytest.mark.parametrize(
    "content",
    [
        "",
        "version: 0",
        "version: 1\ntopic_id: -_8AAAAAAAAAAAAAAAAAAQ",
        "version: 0\ntopic_id: short",
    ],
)
def test_damaged_partition_metadata_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "partition.metadata"
    path.write_text(content)

    with pytest.raises(CorruptCheckpoint):
        read_topic_id(path)


def test_meta_properties_come_back_and_kafkas_comments_are_skipped(tmp_path: Path) -> None:
    path = tmp_path / "meta.properties"
    properties = MetaProperties("cluster-id", 4, "directory-id")

    write_meta_properties(path, properties)
    path.write_text("#\n#Sat Nov 15 13:00:00 UTC 2025\n" + path.read_text())

    assert read_meta_properties(path) == properties


def test_meta_properties_of_another_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "meta.properties"
    path.write_text("version=0\nbroker.id=1\n")

    with pytest.raises(CorruptCheckpoint, match="version=1"):
        read_meta_properties(path)


def test_clean_shutdown_counts_once(tmp_path: Path) -> None:
    assert not take_clean_shutdown(tmp_path)

    write_clean_shutdown(tmp_path)

    assert (tmp_path / CLEAN_SHUTDOWN).read_text() == '{"version":0,"brokerEpoch":-1}'
    assert take_clean_shutdown(tmp_path)
    assert not take_clean_shutdown(tmp_path)
