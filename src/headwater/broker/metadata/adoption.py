"""Finds the topics of a data directory that has logs and no metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.broker.metadata.meta_properties import WrongDirectoryError
from headwater.broker.metadata.metadata_store import TopicRecord
from headwater.log.checkpoint import PARTITION_METADATA, read_topic_id
from headwater.log.file_names import parse_partition_directory

if TYPE_CHECKING:
    from pathlib import Path

_KAFKA_METADATA = "__cluster_metadata-0"


def find_topics(directory: Path) -> list[TopicRecord]:
    """Return the topics that the partitions' directories tell of, with Kafka's own ids.

    A directory that Apache Kafka still works with is refused: its topics have settings that only
    Kafka can read, and retention under other settings would drop data.
    """
    if (directory / _KAFKA_METADATA).exists():
        raise WrongDirectoryError(
            f"{directory} is a data directory of Apache Kafka; use another one. To take over its"
            f" topics, copy their directories without {_KAFKA_METADATA} into a new one"
        )
    found: dict[str, dict[int, bytes]] = {}
    for path in sorted(directory.iterdir()):
        name = parse_partition_directory(path.name)
        topic_id = read_topic_id(path / PARTITION_METADATA) if name is not None else None
        if name is not None and topic_id is not None:
            found.setdefault(name[0], {})[name[1]] = topic_id
    return [
        TopicRecord(topic, partitions[min(partitions)], max(partitions) + 1, {})
        for topic, partitions in found.items()
    ]
