"""`headwater connect worker`, `standalone` and `preview`: what runs connectors here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.connect.connector_files import read_connector
from headwater.cli.errors import CommandError
from headwater.cli.options.connection import connection_options
from headwater.cli.options.listeners import ListenerOptions, listener_options, servers_asked_for
from headwater.cli.options.service_settings import given_settings, settings_options
from headwater.cli.options.values import parse_assignments
from headwater.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.clients import ClusterAccess
    from headwater.clients.connection import Connection
    from headwater.config.given import Given

DEFAULT_PORT = 8083

_file = click.Path(exists=True, dir_okay=False, path_type=Path)
_conf_option = click.option(
    "--conf",
    "conf",
    metavar="NAME=VALUE",
    multiple=True,
    help="A setting of Spark, as in spark.driver.memory=2g; may be given several times.",
)
_engine_option = click.option(
    "--engine",
    type=click.Choice(["spark", "kafka"]),
    help="What runs connectors: ours, on Spark, or Apache Kafka's own worker, for connectors that"
    " are jars.  [default: spark]",
)
_plugin_option = click.option(
    "--plugin",
    "plugins",
    metavar="GROUP:ARTIFACT:VERSION",
    multiple=True,
    help="A connector for --engine kafka by its Maven coordinate, beside those in plugin.path; may"
    " be given several times.",
)
_STANDALONE = {
    "group.id": "connect-standalone",
    "config.storage.topic": "connect-standalone-configs",
    "offset.storage.topic": "connect-standalone-offsets",
    "status.storage.topic": "connect-standalone-status",
}


@click.command(
    epilog="""\b
Examples:
  headwater connect worker
  headwater connect worker --config connect-distributed.properties
  headwater connect worker --property group.id=plant --port 8084
  headwater connect worker --engine kafka --property plugin.path=/opt/connectors
  headwater connect worker --engine kafka --plugin org.apache.kafka:connect-file:4.3.1

\b
Then:
  curl http://localhost:8083/connectors

Workers with one group.id share their connectors: one runs them, the others answer, and one of them
goes on when it dies. Spark starts with the first connector.
Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@connection_options
@listener_options(DEFAULT_PORT)
@settings_options("connect", "Kafka Connect's", "connect-distributed.properties")
@_conf_option
@_engine_option
@_plugin_option
def worker(
    connection: Connection,
    listener: ListenerOptions,
    config_file: Path | None,
    properties: tuple[str, ...],
    conf: tuple[str, ...],
    engine: str | None,
    plugins: tuple[str, ...],
) -> int:
    """Run a worker until Ctrl-C."""
    from headwater.connect.settings import CONNECT_SETTINGS

    given = given_settings(CONNECT_SETTINGS, config_file, properties)
    if _is_kafka(engine, given, conf, plugins):
        return _run_kafka(connection, listener, given, plugins)
    return _serve(connection, listener, given, conf)


@click.command(
    epilog="""\b
Examples:
  headwater connect standalone connect-standalone.properties connect-file-source.properties \\
      connect-file-sink.properties

The worker has the connectors of these files, and no others. Its offsets are in a topic, so that it
goes on where it was; with --engine kafka they are in its offset.storage.file.filename.
Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@connection_options
@listener_options(DEFAULT_PORT)
@_conf_option
@_engine_option
@_plugin_option
@click.argument("worker_file", metavar="WORKER.PROPERTIES", type=_file)
@click.argument("files", metavar="CONNECTOR...", nargs=-1, required=True, type=_file)
def standalone(
    connection: Connection,
    listener: ListenerOptions,
    conf: tuple[str, ...],
    engine: str | None,
    plugins: tuple[str, ...],
    worker_file: Path,
    files: tuple[Path, ...],
) -> int:
    """Run a worker with the connectors of these files until Ctrl-C."""
    from headwater.config.sources import from_options
    from headwater.connect.connectors.connector import ConnectorError
    from headwater.connect.settings import CONNECT_SETTINGS
    from headwater.connect.worker.validation import validated

    in_file = given_settings(CONNECT_SETTINGS, worker_file, ())
    if _is_kafka(engine, in_file, conf, plugins):
        return _run_kafka(connection, listener, in_file, plugins, files)
    given = from_options(_STANDALONE, "standalone") | in_file
    connectors: dict[str, Mapping[str, str]] = {}
    for file in files:
        name, config = read_connector(file)
        connectors[name] = {key: str(value) for key, value in config.items()}
        try:
            errors = validated(connectors[name], _converters(given)).errors
        except ConnectorError as failure:
            errors = [str(failure)]
        if errors:
            raise CommandError(f"{file}: {'; '.join(errors)}")
    return _serve(connection, listener, given, conf, connectors)


@click.command(
    epilog="""\b
Examples:
  headwater connect preview jdbc-source.json"""
)
@connection_options
@settings_options("connect", "Kafka Connect's", "connect-distributed.properties")
@_conf_option
@click.option("--limit", type=click.IntRange(1), default=10, show_default=True)
@click.argument("file", type=_file)
def preview(
    connection: Connection,
    config_file: Path | None,
    properties: tuple[str, ...],
    conf: tuple[str, ...],
    limit: int,
    file: Path,
) -> None:
    """Show the first records that a connector would write, and write nothing."""
    from headwater.connect.connectors.connector import ConnectorError
    from headwater.connect.settings import CONNECT_SETTINGS
    from headwater.connect.worker.preview import previewed

    given = given_settings(CONNECT_SETTINGS, config_file, properties)
    name, config = read_connector(file)
    texts = {key: str(value) for key, value in config.items()}
    try:
        records = previewed(
            name, texts, _converters(given), _access(connection, given), limit,
            parse_assignments(conf, "--conf"),
        )  # fmt: skip
    except (ConnectorError, ValueError) as failure:
        raise CommandError(str(failure)) from None
    print_json(records)


def _is_kafka(
    engine: str | None, given: Given, conf: tuple[str, ...], plugins: tuple[str, ...]
) -> bool:
    """Whether Kafka's worker is asked for; refuses options that are the other one's."""
    if (engine or given.get("engine", "spark")) == "kafka":
        if conf:
            raise click.UsageError("--conf is for Spark, which --engine kafka does not use.")
        return True
    if plugins:
        raise click.UsageError("--plugin is for --engine kafka; on Spark, connectors are no jars.")
    return False


def _serve(
    connection: Connection,
    listener: ListenerOptions,
    given: Given,
    conf: tuple[str, ...],
    only: Mapping[str, Mapping[str, str]] | None = None,
) -> int:
    from headwater.config import ConfigError
    from headwater.config.sources import from_options
    from headwater.connect.service import SPARK_ALONE, ConnectWorker
    from headwater.http.errors import StartError
    from headwater.spark_services.spark_service import read_settings

    service = ConnectWorker(only)
    typed = {
        "authentication.users.file": listener.users,
        "ssl.certificate.location": listener.certificate,
        "ssl.key.location": listener.key,
    }
    given |= from_options(
        {name: str(path) for name, path in typed.items() if path is not None}, "options"
    )
    given = _with_servers(connection, given)
    try:
        _, config = read_settings(service, given)
        config.tls()
    except ConfigError as failure:
        raise click.UsageError(given.explain(failure)) from None
    except StartError as failure:
        raise CommandError(str(failure)) from None

    from headwater.spark_services.process import HostedService, run

    host = listener.host or config.host
    port = listener.port if listener.port is not None else config.port or DEFAULT_PORT
    hosted = HostedService(service, host, port, given)
    spark = {**SPARK_ALONE, **parse_assignments(conf, "--conf")}
    return run([hosted], _access(connection, given), spark)


def _run_kafka(
    connection: Connection,
    listener: ListenerOptions,
    given: Given,
    plugins: tuple[str, ...],
    files: tuple[Path, ...] | None = None,
) -> int:
    from headwater.cli.connect.kafka_worker import run_kafka_worker

    given = _with_servers(connection, given)
    return run_kafka_worker(_access(connection, given), listener, given, plugins, files)


def _with_servers(connection: Connection, given: Given) -> Given:
    """Return the settings with the brokers that the command names, above those of its file."""
    from headwater.config.sources import from_options

    servers = servers_asked_for(connection)
    if servers is None:
        return given
    return given | from_options({"bootstrap.servers": servers}, "--bootstrap-server")


def _access(connection: Connection, given: Given) -> ClusterAccess:
    """Return the cluster, with what a worker's file says of security."""
    from headwater.clients import ClusterAccess

    security = {
        name: text for name, text in given.items() if name.startswith(("security.", "sasl."))
    }
    servers = given.get("bootstrap.servers") or connection.bootstrap_servers
    return ClusterAccess(servers, {**security, **connection.access.properties})


def _converters(given: Given) -> dict[str, str]:
    from headwater.config import Values
    from headwater.connect.settings import CONNECT_SETTINGS
    from headwater.connect.worker.config import converters_of

    return converters_of(Values(CONNECT_SETTINGS, given))
