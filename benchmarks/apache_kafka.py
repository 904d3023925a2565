"""Apache Kafka from Maven, as one combined KRaft node: the peer that everything is held against."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

VERSION = "4.3.1"
CACHE = Path.home() / ".cache" / "headwater" / f"kafka-{VERSION}"

_POM = f"""<project>
<modelVersion>4.0.0</modelVersion>
<groupId>headwater</groupId><artifactId>benchmarks</artifactId><version>1</version>
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId>
<version>{VERSION}</version></dependency>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId>
<version>{VERSION}</version></dependency>
</dependencies></project>
"""

_PROPERTIES = """process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
controller.quorum.voters=1@127.0.0.1:{controller_port}
log.dirs={data}
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def missing() -> str | None:
    """Say what this machine lacks to run Kafka, if anything."""
    absent = [program for program in ("java", "mvn") if shutil.which(program) is None]
    return f"{' and '.join(absent)} not installed" if absent else None


def class_path() -> str:
    """Return Kafka's class path, fetched by its coordinates once."""
    libraries = CACHE / "lib"
    if not (CACHE / ".complete").exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        (CACHE / "pom.xml").write_text(_POM)
        subprocess.run(
            ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={libraries}"],
            cwd=CACHE, check=True, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        (CACHE / ".complete").touch()
    return f"{libraries}/*"


def java(main: str, *arguments: str, heap: str = "512m") -> list[str]:
    """Return the command that runs one of Kafka's classes."""
    # Kafka's own start script uses these collector settings.
    options = [f"-Xmx{heap}", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"]
    return ["java", *options, "-cp", class_path(), main, *arguments]


def prepare(directory: Path, port: int, controller_port: int) -> list[str]:
    """Format a data directory and return the command that starts a node on it."""
    properties = directory / "server.properties"
    properties.write_text(
        _PROPERTIES.format(port=port, controller_port=controller_port, data=directory / "data")
    )
    cluster_id = "headwaterBenchmarks0001"
    subprocess.run(
        java("kafka.tools.StorageTool", "format", "-t", cluster_id, "-c", str(properties)),
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    # The heap that Kafka's own start script gives a broker.
    return java("kafka.Kafka", str(properties), heap="1g")
