"""Apache Kafka as the other engine: a combined KRaft node with the same settings."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import apache_kafka
from benchmarks.targets import free_port
from confluent_kafka import KafkaException
from tests.differential.engine import Engine, wait_for
from tests.differential.settings import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping

STOPPED_WITHIN_S = 60.0


def missing() -> str | None:
    """Say what this machine lacks to run Apache Kafka, if anything."""
    return apache_kafka.missing()


class Kafka(Engine):
    """One node that is broker and controller, as small as it gets."""

    name = "kafka"

    def __init__(self, directory: Path, settings: Mapping[str, str] = SETTINGS) -> None:
        directory.mkdir(parents=True)
        self.data = directory / "data"
        self.output = []
        self.port = free_port()
        self._log = directory / "output"
        command = apache_kafka.prepare(directory, self.port, free_port())
        with open(directory / "server.properties", "a") as properties:
            properties.writelines(f"{name}={value}\n" for name, value in settings.items())
        # A compiler that stops early and one collector thread: two cores serve many tests here.
        java, *rest = (part for part in command if "G1" not in part and "Pause" not in part)
        self._command = [java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *rest]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT
            )
        try:
            wait_for(self._answers)
        except BaseException:
            self._process.kill()
            self._process.wait()
            raise

    def stop(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOPPED_WITHIN_S)
        finally:
            self._process.kill()
            self._process.wait()

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, Path(self._log).read_text()[-5000:]
        try:
            with self.raw() as client:
                answer = client.call("metadata", 12, topics=[])
                return len(answer.brokers) == 1
        except (OSError, KafkaException):
            return False
