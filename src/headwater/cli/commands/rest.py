"""`headwater rest`: run the REST proxy in the foreground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.cli.options.connection import connection_options
from headwater.cli.options.listeners import ListenerOptions, listener_options, servers_asked_for
from headwater.cli.options.service_settings import explained, given_settings, settings_options

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.clients.connection import Connection

DEFAULT_PORT = 8082


@click.command(
    epilog="""\b
Examples:
  headwater rest
  headwater rest --port 8082 --bootstrap-server localhost:9092
  headwater rest --registry http://localhost:8081
  headwater rest --users users.txt --certificate server.pem --key server.key
  headwater rest --property consumer.instance.timeout.ms=60000
  headwater rest --config kafka-rest.properties

\b
  curl http://localhost:8082/topics
  curl http://localhost:8082/v3/clusters

Any number of instances can run on one cluster. A consumer instance lives in the one that made it,
whose address its base_uri has.

Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@connection_options
@listener_options(DEFAULT_PORT)
@click.option(
    "--registry",
    metavar="URL[,...]",
    help="The schema registry, for Avro, JSON Schema and Protobuf."
    "  [default: http://localhost:8081]",
)
@settings_options("rest", "Confluent's", "kafka-rest.properties")
def rest(
    connection: Connection,
    listener: ListenerOptions,
    registry: str | None,
    config_file: Path | None,
    properties: tuple[str, ...],
) -> int:
    """Run the REST proxy until Ctrl-C."""
    from headwater.rest.config import RestConfig
    from headwater.rest.settings import REST_SETTINGS

    settings = given_settings(REST_SETTINGS, config_file, properties)
    with explained(settings):
        config = RestConfig.from_settings(settings)
    config.bootstrap_servers = servers_asked_for(connection) or config.bootstrap_servers
    config.client |= connection.access.properties
    if registry is not None:
        config.registry["url"] = registry
    listener.set_in(config)
    with explained(settings):
        config.check()
        config.producer_settings()
        config.consumer_settings()
        _ = config.registry_access

    # Only now: a wrong setting should not have to wait for the server's imports.
    from headwater.rest.run import run

    return run(config)
