"""Apache Kafka as the other engine: a combined KRaft node with the same settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.differential.engine import Engine
from tests.differential.settings import SETTINGS

from headwater.cluster import KafkaCluster
from headwater.cluster.kafka import require
from headwater.java.coordinates import ArtifactError
from headwater.java.runtime import JavaNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NODE = 1


def missing() -> str | None:
    """Say what this machine lacks to run Apache Kafka, if anything."""
    try:
        require()
    except (JavaNotFound, ArtifactError) as lacking:
        return str(lacking)
    return None


class Kafka(Engine):
    """One node that is broker and controller, as small as it gets."""

    name = "kafka"

    def __init__(self, directory: Path, settings: Mapping[str, str] = SETTINGS) -> None:
        self._cluster = KafkaCluster(directory, settings=settings)
        self.data = directory / f"broker-{NODE}" / "data"
        self.output = []
        self.port = self._cluster.node(NODE).port

    def start(self) -> None:
        self._cluster.start()

    def stop(self) -> None:
        self._cluster.stop_node(NODE)

    def close(self) -> None:
        self._cluster.close()
