"""`headwater console`: run the web console in the foreground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from headwater.cli.options.connection import connection_options
from headwater.cli.options.listeners import ListenerOptions, listener_options, servers_asked_for
from headwater.cli.options.service_settings import explained, given_settings, settings_options

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.clients.connection import Connection

DEFAULT_PORT = 9021


@click.command(
    epilog="""\b
Examples:
  headwater console
  headwater console --bootstrap-server kafka:9092 --registry http://localhost:8081
  headwater console --read-only --users users.txt
  headwater console --property monitor.url=http://localhost:9308 \\
      --property connect.url=http://localhost:8083 --property ksql.url=http://localhost:8088

  headwater console --property clusters.west.bootstrap.servers=west:9092

Then open http://localhost:9021 in a browser. `headwater up` runs it as well.

Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@connection_options
@listener_options(DEFAULT_PORT)
@click.option("--registry", metavar="URL[,...]", help="The schema registry, if there is one.")
@click.option("--read-only", is_flag=True, help="Show everything, and change nothing.")
@settings_options("console", "its own", "properties file")
def console(
    connection: Connection,
    listener: ListenerOptions,
    registry: str | None,
    read_only: bool,
    config_file: Path | None,
    properties: tuple[str, ...],
) -> int:
    """Run the web console until Ctrl-C; the cluster may come and go meanwhile."""
    from headwater.console.config import ConsoleConfig
    from headwater.console.model.tour import read_tour
    from headwater.console.settings import CONSOLE_SETTINGS

    settings = given_settings(CONSOLE_SETTINGS, config_file, properties)
    with explained(settings):
        config = ConsoleConfig.from_settings(settings)
        listener.set_in(config)
        config.check()
        first = config.cluster
        if registry is not None:
            first.registry["url"] = registry
        first.bootstrap_servers = servers_asked_for(connection) or first.bootstrap_servers
        first.client |= connection.access.properties
        for cluster in config.clusters:
            cluster.check()
            cluster.is_read_only = cluster.is_read_only or read_only
        if config.tour_file is not None:
            read_tour(config.tour_file)

    # Only now: a wrong setting should not have to wait for the server's imports.
    from headwater.console.run import run

    return run(config)
