"""A Spark cluster of processes on this machine: a master, and a worker with two cores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyspark

from headwater.java.runtime import find_java
from headwater.processes.child import ChildProcess
from headwater.processes.guard import Guard
from headwater.spark.class_archive import SHORT_LIVED

if TYPE_CHECKING:
    from types import TracebackType

READY_WITHIN_S = 200.0
_HOST = "127.0.0.1"
_DEPLOY = "org.apache.spark.deploy"


class SparkCluster:
    """Spark's own standalone cluster, as it comes with PySpark; it ends with the `with`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._guard = Guard(kills_after_s=10)
        self._processes: list[ChildProcess] = []
        self.master = ""

    def __enter__(self) -> SparkCluster:
        try:
            self.master = self._start(
                *(r"Starting Spark master at (spark://\S+)", f"{_DEPLOY}.master.Master"),
                *("--port", "0"),
            )
            self._start(
                *("(Successfully registered with master)", f"{_DEPLOY}.worker.Worker"),
                *("--cores", "2", "--memory", "1g"),
                *("--work-dir", str(self._folder / "work"), self.master),
            )
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

    @property
    def applications(self) -> int:
        """How many programs the worker has had executors of."""
        return len(list((self._folder / "work").glob("app-*")))

    def _start(self, ready: str, class_: str, *options: str) -> str:
        """Start one of Spark's programs, and return what its first line of this form says."""
        home = Path(pyspark.__file__).parent
        command = [
            *(
                str(find_java().java),
                *SHORT_LIVED,
                "-Xmx256m",
                f"-Djava.io.tmpdir={self._folder}",
            ),
            *("-cp", str(home / "jars" / "*"), class_),
            *("--host", _HOST, "--webui-port", "0", *options),
        ]
        # What Spark's own scripts would set, the Scala version so that executors find their jars.
        environment = {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": _HOST,
            "SPARK_SCALA_VERSION": "2.13",
        }
        process = ChildProcess(command, guard=self._guard, ready=ready, environment=environment)
        self._processes.append(process)
        said = process.wait_until_ready(READY_WITHIN_S)
        assert said is not None, process.last_lines
        return said[1]

    def _stop(self) -> None:
        for process in reversed(self._processes):
            process.stop()
        self._guard.close()
