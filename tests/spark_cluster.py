"""A Spark cluster of processes on this machine: a master, and a worker with two cores."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from types import TracebackType

READY_WITHIN_S = 200.0
_HOST = "127.0.0.1"
_DEPLOY = "org.apache.spark.deploy"


class SparkCluster:
    """Spark's own standalone cluster, as it comes with PySpark; it ends with the `with`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[_Process] = []
        self.master = ""

    def __enter__(self) -> SparkCluster:
        try:
            master = self._start(f"{_DEPLOY}.master.Master", "--port", "0")
            self.master = master.said(r"Starting Spark master at (spark://\S+)")
            worker = self._start(
                *(f"{_DEPLOY}.worker.Worker", "--cores", "2", "--memory", "1g"),
                *("--work-dir", str(self._folder / "work"), self.master),
            )
            worker.said(r"(Successfully registered with master)")
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()

    def _start(self, class_: str, *options: str) -> _Process:
        home = Path(pyspark.__file__).parent
        command = [
            *(str(find_java().java), "-Xmx256m", f"-Djava.io.tmpdir={self._folder}"),
            *("-cp", str(home / "jars" / "*"), class_),
            *("--host", _HOST, "--webui-port", "0", *options),
        ]
        # What Spark's own scripts would set, the Scala version so that executors find their jars.
        environment = {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": _HOST,
            "SPARK_SCALA_VERSION": "2.13",
        }
        process = _Process(command, os.environ | environment)
        self._processes.append(process)
        return process

    def _stop(self) -> None:
        for process in reversed(self._processes):
            process.stop()


class _Process:
    """A process whose lines are read as they come."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self._lines: list[str] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def said(self, pattern: str) -> str:
        """Wait for a line, and return what its group matches."""
        found: list[str] = []

        def look() -> bool:
            found[:] = [match[1] for line in self._lines if (match := re.search(pattern, line))]
            return bool(found) or not self._reader.is_alive()

        with self._more:
            self._more.wait_for(look, READY_WITHIN_S)
        assert found, "".join(self._lines)
        return found[0]

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(READY_WITHIN_S)
        finally:
            self._process.kill()
        self._reader.join()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                with self._more:
                    self._lines.append(line)
                    self._more.notify_all()
        with self._more:
            self._more.notify_all()
