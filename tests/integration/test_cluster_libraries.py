"""The pinned list of Kafka's libraries is what Maven finds, and one for its log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.cluster.kafka import VERSION, libraries
from headwater.java.artifacts import fetch
from headwater.java.coordinates import Coordinate

if TYPE_CHECKING:
    from pathlib import Path

# Kafka's POMs leave the choice of a logging library open.
FOR_THE_LOG = "log4j-slf4j-impl"


@pytest.mark.needs("mvn", "java")
def test_the_list_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_CACHE", str(tmp_path))
    found = fetch(
        "resolved",
        [f"org.apache.kafka:{each}:{VERSION}" for each in ("kafka_2.13", "kafka-tools")],
        transitive=True,
    )
    assert libraries() == sorted(libraries())
    listed = [Coordinate.parse(text) for text in libraries()]
    assert {jar.name for jar in found} == {
        each.file_name for each in listed if each.artifact != FOR_THE_LOG
    }
