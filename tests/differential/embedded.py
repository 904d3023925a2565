"""Headwater's embedded broker as one of the two engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.broker_process import BrokerProcess
from tests.differential.engine import Engine
from tests.differential.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Embedded(Engine):
    """The embedded broker, run as users run it: as a process of its own."""

    name = "headwater"

    def __init__(self, data: Path, settings: Mapping[str, str] = SETTINGS) -> None:
        self.data = data
        # On one node every replication factor above 1 is an error in Kafka, and here too if asked.
        mine = {"headwater.replication.factor.clamp": "false"}
        self._process = BrokerProcess(data, {**settings, **mine})
        self.output = self._process.output
        self.port = 0

    def start(self) -> None:
        self._process.start()
        self.port = self._process.port

    def stop(self) -> None:
        self._process.stop()

    def close(self) -> None:
        self.stop()
