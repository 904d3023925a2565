"""Connect and files: lines into a topic and out of it again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.connect_worker import until

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.connect_worker import Worker

LINE_BYTES = 100

_PACKAGE = "org.apache.kafka.connect.file"
_STRING = "org.apache.kafka.connect.storage.StringConverter"


class Files:
    """Files that a worker reads into topics, and writes again."""

    def __init__(self, folder: Path, worker: Worker) -> None:
        self._folder = folder
        self._worker = worker

    def copy(self, topic: str, lines: int) -> tuple[float, float]:
        """Move so many lines from a file to a topic, and on to another; return both times."""
        source, copy = self._folder / f"{topic}.txt", self._folder / f"{topic}.copy"
        with source.open("w") as file:
            file.writelines(f"{number:0{LINE_BYTES}d}\n" for number in range(lines))
        started = time.perf_counter()
        self._make(f"{topic}-source", "Source", topic=topic, file=str(source))
        until(lambda: self._worker.committed(topic) >= lines, f"{lines} lines in the topic")
        read = time.perf_counter()
        self._make(f"{topic}-sink", "Sink", topics=topic, file=str(copy))
        size = lines * (LINE_BYTES + 1)
        until(lambda: copy.exists() and copy.stat().st_size >= size, f"{lines} lines in the file")
        return read - started, time.perf_counter() - read

    def _make(self, name: str, kind: str, **config: str) -> None:
        of_kind = {"connector.class": f"{_PACKAGE}.FileStream{kind}Connector"}
        converters = {"key.converter": _STRING, "value.converter": _STRING}
        self._worker.put(name, {**of_kind, **converters, **config})
