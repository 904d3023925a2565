"""Kafka Connect's own transforms and JsonConverter, as a judge: in one JVM, asked line by line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headwater.cluster.kafka import OLDEST_JAVA, SMALL_JVM, class_path
from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SOURCE = Path(__file__).with_name("KafkaConnectRecords.java")


class KafkaConnectRecords:
    """One JVM, which is asked for one chain of transforms after the other."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [str(find_java(OLDEST_JAVA).java), *SMALL_JVM, "-cp", class_path(), str(SOURCE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(
        self,
        transforms: Sequence[Mapping[str, str]],
        records: Sequence[Mapping[str, Any]],
        *,
        schemas: bool,
    ) -> list[dict[str, Any] | None]:
        """Return what becomes of each record: None for one that is dropped, or why it failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"schemas": schemas, "transforms": transforms, "records": records}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"Kafka Connect failed with {transforms}: see what it wrote to stderr"
        made: list[dict[str, Any] | None] = json.loads(answer)
        return made

    def close(self) -> None:
        """End the JVM, which ends with its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)
