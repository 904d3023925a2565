"""PyFlink: Flink SQL from Python, in an environment of its own, with Flink's Kafka connector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.pipeline.peer import PROGRAMS, Peer, PythonEnvironment
from headwater.java.artifacts import fetch
from headwater.java.runtime import find_java

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from benchmarks.pipeline.peer import PeerJob
    from benchmarks.pipeline.programs import Guarantee, Kind

# The newest release that there is a connector for.
VERSION = "2.2.1"
CONNECTOR = "org.apache.flink:flink-sql-connector-kafka:5.0.0-2.2"
ENVIRONMENT = PythonEnvironment(".venv-flink", (f"apache-flink=={VERSION}",))
HEAP = "2g"
_OLDEST_JAVA = 17


class PyFlink(Peer):
    """What runs a Python program whose work is all done in Flink's JVM."""

    name = "PyFlink"

    def install(self, say: Callable[[str], None]) -> None:
        """Make its environment, and fetch the connector."""
        ENVIRONMENT.install(say)
        self._connector()

    def has(self, kind: Kind, guarantee: Guarantee) -> bool:
        """It has all of them."""
        return True

    def command(self, job: PeerJob, state: Path) -> list[str]:
        """Return its interpreter with its program."""
        return [
            *(str(ENVIRONMENT.python), str(PROGRAMS / "flink_sql.py"), self._connector().as_uri()),
            *(job.kind, job.guarantee, job.bootstrap_servers, str(state)),
            *(*job.warm_up.arguments, *job.measured.arguments),
        ]

    def environment(self) -> Mapping[str, str]:
        """Say which Java it is, and how large."""
        return {"JAVA_HOME": str(find_java(_OLDEST_JAVA).home), "JVM_ARGS": f"-Xmx{HEAP}"}

    def _connector(self) -> Path:
        return fetch("flink-kafka", [CONNECTOR], transitive=False)[0]


PYFLINK = PyFlink()
