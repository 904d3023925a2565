from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.broker.metadata.adoption import find_topics
from headwater.broker.metadata.meta_properties import WrongDirectoryError, claim
from headwater.broker.metadata.metadata_store import TopicRecord
from headwater.config.properties import parse_properties
from headwater.log.checkpoint import write_topic_id

if TYPE_CHECKING:
    from pathlib import Path


def test_a_new_directory_is_given_to_this_node(tmp_path: Path) -> None:
    mine = claim(tmp_path, 7)
    properties = parse_properties((tmp_path / "meta.properties").read_text())
    assert properties == {
        "version": "1",
        "node.id": "7",
        "cluster.id": mine.cluster_id,
        "directory.id": mine.directory_id,
    }
    assert len(mine.cluster_id) == 22
    assert claim(tmp_path, 7) == mine


def test_what_kafka_wrote_is_understood(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text(
        "#\n#Sun Nov 15 14:04:24 UTC 2026\nnode.id=1\ndirectory.id=jy26-onA6-84MmsUZZMS7A\n"
        "version=1\ncluster.id=5L6g3nShT-eMCtK--X86sw\n"
    )
    assert claim(tmp_path, 1).cluster_id == "5L6g3nShT-eMCtK--X86sw"


def test_the_directory_of_another_node_is_refused(tmp_path: Path) -> None:
    claim(tmp_path, 1)
    with pytest.raises(WrongDirectoryError, match=r"set node\.id=1"):
        claim(tmp_path, 2)


def test_topics_are_found_by_their_directories(tmp_path: Path) -> None:
    for name in ("orders-0", "orders-2", "a-b-10", "gone-0.abc-delete", "lost-0"):
        (tmp_path / name).mkdir()
    for name in ("orders-0", "orders-2"):
        write_topic_id(tmp_path / name / "partition.metadata", b"1" * 16)
    write_topic_id(tmp_path / "a-b-10" / "partition.metadata", b"2" * 16)
    (tmp_path / "meta.properties").write_text("version=1\n")
    assert find_topics(tmp_path) == [
        TopicRecord("a-b", b"2" * 16, 11, {}),
        TopicRecord("orders", b"1" * 16, 3, {}),
    ]


def test_a_directory_that_kafka_works_with_is_refused(tmp_path: Path) -> None:
    (tmp_path / "__cluster_metadata-0").mkdir()
    with pytest.raises(WrongDirectoryError, match="Apache Kafka"):
        find_topics(tmp_path)
