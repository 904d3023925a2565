"""`headwater registry`: run the schema registry in the foreground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.cli.options.connection import connection_options
from headwater.cli.options.listeners import ListenerOptions, listener_options, servers_asked_for
from headwater.cli.options.service_settings import explained, given_settings, settings_options

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.clients.connection import Connection

DEFAULT_PORT = 8081


@click.command(
    epilog="""\b
Examples:
  headwater registry
  headwater registry --port 8081 --bootstrap-server localhost:9092
  headwater registry --users users.txt --certificate server.pem --key server.key
  headwater registry --property schema.compatibility.level=full --read-only
  headwater registry --config schema-registry.properties

Clients use it with schema.registry.url=http://localhost:8081. Any number of instances can run on
one cluster: they elect a leader, and each answers every request.

Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@connection_options
@listener_options(DEFAULT_PORT)
@click.option(
    "--advertised-url",
    metavar="URL",
    help="Where other instances reach this one.  [default: http://HOST:PORT]",
)
@click.option("--topic", metavar="NAME", help="Where schemas are kept.  [default: _schemas]")
@click.option(
    "--group",
    metavar="NAME",
    help="The group in which instances elect a leader.  [default: schema-registry]",
)
@click.option("--read-only", is_flag=True, help="Serve reads only, and never become the leader.")
@settings_options("registry", "Confluent's", "schema-registry.properties")
def registry(
    connection: Connection,
    listener: ListenerOptions,
    advertised_url: str | None,
    topic: str | None,
    group: str | None,
    read_only: bool,
    config_file: Path | None,
    properties: tuple[str, ...],
) -> int:
    """Run the schema registry until Ctrl-C."""
    from headwater.registry.config import RegistryConfig
    from headwater.registry.settings import REGISTRY_SETTINGS

    settings = given_settings(REGISTRY_SETTINGS, config_file, properties)
    with explained(settings):
        config = RegistryConfig.from_settings(settings)
    config.bootstrap_servers = servers_asked_for(connection) or config.bootstrap_servers
    config.client |= connection.access.properties
    listener.set_in(config)
    given = {
        "advertised_url": advertised_url,
        "topic": topic,
        "group": group,
        "read_only": read_only or None,
    }
    for name, option in given.items():
        if option is not None:
            setattr(config, name, option)
    with explained(settings):
        config.check()
        config.client_settings()

    # Only now: a wrong setting should not have to wait for the server's imports.
    from headwater.registry.run import run

    return run(config)
