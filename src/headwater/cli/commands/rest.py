"""`headwater rest`: run the REST proxy in the foreground."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.connection import connection_options
from headwater.cli.service_settings import given_settings, settings_options
from headwater.clients.cluster_access import DEFAULT_SERVERS
from headwater.clients.errors import InvalidPropertiesError

if TYPE_CHECKING:
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
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Port to listen on; 0 takes a free one and says which.  [default: {DEFAULT_PORT}]",
)
@click.option("--host", metavar="ADDRESS", help="Address to listen on.  [default: 127.0.0.1]")
@click.option(
    "--registry",
    metavar="URL[,...]",
    help="The schema registry, for Avro, JSON Schema and Protobuf."
    "  [default: http://localhost:8081]",
)
@click.option(
    "--users",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Users, for basic authentication: lines of NAME: PASSWORD.",
)
@click.option(
    "--certificate",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A certificate chain in PEM format: serve https.",
)
@click.option(
    "--key",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The certificate's private key.",
)
@settings_options("rest", "Confluent's", "kafka-rest.properties")
@click.pass_context
def rest(
    context: click.Context,
    connection: Connection,
    port: int | None,
    host: str | None,
    registry: str | None,
    users: Path | None,
    certificate: Path | None,
    key: Path | None,
    config_file: Path | None,
    properties: tuple[str, ...],
) -> int:
    """Run the REST proxy until Ctrl-C."""
    from headwater.config import ConfigError
    from headwater.rest.config import RestConfig
    from headwater.rest.settings import REST_SETTINGS

    settings = given_settings(REST_SETTINGS, config_file, properties)
    try:
        config = RestConfig.from_settings(settings)
    except ConfigError as failure:
        raise click.UsageError(settings.explain(failure)) from None
    source = context.get_parameter_source("bootstrap_server")
    said = connection.bootstrap_servers != DEFAULT_SERVERS  # by --command-config
    if said or source is not click.core.ParameterSource.DEFAULT:
        config.bootstrap_servers = connection.bootstrap_servers
    config.client |= connection.access.properties
    if registry is not None:
        config.registry["url"] = registry
    given = {
        "port": port,
        "host": host,
        "users_file": users,
        "certificate_file": certificate,
        "key_file": key,
    }
    for name, option in given.items():
        if option is not None:
            setattr(config, name, option)
    try:
        config.check()
        config.producer_settings()
        config.consumer_settings()
        _ = config.registry_access
    except ConfigError as failure:
        raise click.UsageError(settings.explain(failure)) from None
    except InvalidPropertiesError as failure:
        raise click.UsageError(str(failure)) from None

    # Only now: a wrong setting should not have to wait for the server's imports.
    from headwater.rest.run import run

    return run(config)
