"""Apache Kafka's own Connect worker, for connectors that are jars: its files, its command, its end.

worker = ConnectWorkerFiles(folder)
worker.write({"bootstrap.servers": "localhost:9092", "listeners": "http://127.0.0.1:8083"})
ChildProcess(worker.distributed_command())
"""

from __future__ import annotations

import http.client
import os
import shlex
from typing import TYPE_CHECKING

from headwater.cluster.kafka import java_command, jvm_options
from headwater.cluster.server_properties import as_text
from headwater.java.artifacts import fetch
from headwater.java.coordinates import Coordinate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

JSON_CONVERTER = "org.apache.kafka.connect.json.JsonConverter"

DISTRIBUTED_DEFAULTS = {
    # Not the names of our own worker's: either would find connectors there that it cannot run.
    "group.id": "kafka-connect-cluster",
    "config.storage.topic": "kafka-connect-configs",
    "offset.storage.topic": "kafka-connect-offsets",
    "status.storage.topic": "kafka-connect-status",
    # As many replicas as the brokers' default says; Kafka's own is three, which one broker has not.
    "config.storage.replication.factor": "-1",
    "offset.storage.replication.factor": "-1",
    "status.storage.replication.factor": "-1",
}
"""What Kafka asks for and has no default of, or none that suits a single broker."""

_CONVERTERS = {"key.converter": JSON_CONVERTER, "value.converter": JSON_CONVERTER}
# Connect gives connectors clients of their own, which take nothing from the worker's settings.
_CLIENTS = ("producer.", "consumer.", "admin.")
_OF_SECURITY = ("security.", "sasl.", "ssl.")
_ANSWERS_WITHIN_S = 5.0
_OK = 200

LOG4J = """\
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d %p %m (%c)%n
rootLogger.level=warn
rootLogger.appenderRef.console.ref=console
# Classes that are found twice, and plugins without a manifest: of no use to who runs them.
logger.reflections.name=org.reflections
logger.reflections.level=error
logger.plugins.name=org.apache.kafka.connect.runtime.isolation
logger.plugins.level=error
# It tells of every setting that a client does not know, and each is given to all of them.
logger.config.name=org.apache.kafka.common.config.AbstractConfig
logger.config.level=error
"""
"""What is worth a line of what Kafka Connect's parts log, whichever program they are in."""

_LOG4J = f"""\
{LOG4J}\
# What becomes of connectors and tasks, without the settings of every client.
logger.herder.name=org.apache.kafka.connect.runtime.distributed.DistributedHerder
logger.herder.level=info
logger.worker.name=org.apache.kafka.connect.runtime.Worker
logger.worker.level=info
"""


class ConnectWorkerFiles:
    """The folder with all that a worker is started with, passwords among it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._properties = folder / "worker.properties"
        self._logging = folder / "connect-log4j2.properties"

    def write(self, settings: Mapping[str, str], plugins: Sequence[Path] = ()) -> None:
        """Write the worker's settings, with these folders of jars beside its own `plugin.path`."""
        all_settings = {**_CONVERTERS, **settings}
        if plugins:
            path = self._plugin_path(plugins)
            given = all_settings.get("plugin.path", "")
            all_settings["plugin.path"] = ",".join(filter(None, (given, str(path))))
        self._properties.write_text(as_text(all_settings), "latin-1")
        self._logging.write_text(_LOG4J, "latin-1")

    def distributed_command(self) -> list[str]:
        """Return the command of a worker that shares connectors with its group."""
        return self._command("ConnectDistributed")

    def standalone_command(self, connectors: Sequence[Path]) -> list[str]:
        """Return the command of a worker with the connectors of these files."""
        return self._command("ConnectStandalone", *map(str, connectors))

    def _command(self, main: str, *arguments: str) -> list[str]:
        return java_command(
            f"org.apache.kafka.connect.cli.{main}",
            str(self._properties),
            *arguments,
            options=(*jvm_options(), *logging_options(self._logging)),
        )

    def _plugin_path(self, plugins: Sequence[Path]) -> Path:
        """Return a folder that has each plugin's as one of its own, which is what Connect wants."""
        path = self._folder / "plugins"
        path.mkdir(exist_ok=True)
        for plugin in plugins:
            (path / plugin.name).unlink(missing_ok=True)
            (path / plugin.name).symlink_to(plugin)
        return path


def logging_options(own: Path) -> list[str]:
    """Return the JVM's options for its log: what Kafka's variable says, or this file of ours."""
    given = shlex.split(os.environ.get("KAFKA_LOG4J_OPTS", ""))
    return given or [f"-Dlog4j2.configurationFile={own.as_uri()}"]


def plugin(coordinate: str) -> Path:
    """Return the folder with a connector's jars, by its Maven coordinate; raises ArtifactError."""
    name = f"plugin-{Coordinate.parse(coordinate).artifact}"
    return fetch(name, [coordinate], transitive=True)[0].parent


def with_client_settings(settings: Mapping[str, str], access: Mapping[str, str]) -> dict[str, str]:
    """Return settings by which the worker and its connectors' clients reach the cluster.

    >>> made = with_client_settings({"admin.ssl.protocol": "x"}, {"security.protocol": "SSL"})
    >>> made["security.protocol"], made["producer.security.protocol"], made["admin.ssl.protocol"]
    ('SSL', 'SSL', 'x')
    """
    own = {**access, **settings}
    security = {name: text for name, text in own.items() if name.startswith(_OF_SECURITY)}
    of_clients = {f"{kind}{name}": text for kind in _CLIENTS for name, text in security.items()}
    return {**of_clients, **own}


def is_healthy(host: str, port: int) -> bool:
    """Whether the worker answers, has read its topics and can be asked for anything."""
    connection = http.client.HTTPConnection(host, port, timeout=_ANSWERS_WITHIN_S)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == _OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
