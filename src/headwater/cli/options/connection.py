"""Options that say where the cluster is and as whom to connect to it."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import client_failures
from headwater.cli.options.client_properties import read_client_properties
from headwater.clients.cluster_access import DEFAULT_SERVERS, ClusterAccess
from headwater.clients.connection import Connection
from headwater.clients.errors import InvalidPropertiesError

if TYPE_CHECKING:
    from collections.abc import Callable

command_config_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--command-config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Client properties (security and the like), as Kafka's tools take them.",
)


def connection_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --bootstrap-server and --command-config, handed over as `connection`."""

    @click.option(
        "-b",
        "--bootstrap-server",
        metavar="HOST:PORT[,...]",
        default=DEFAULT_SERVERS,
        show_default=True,
        envvar="HEADWATER_BOOTSTRAP_SERVER",
        show_envvar=True,
        callback=_check_servers,
        help="Brokers to connect to.",
    )
    @command_config_option
    @functools.wraps(command)
    def connected(
        *args: Any, bootstrap_server: str, command_config: Path | None, **kwargs: Any
    ) -> Any:
        connection = Connection(_access(bootstrap_server, command_config))
        with client_failures():
            return command(*args, connection=connection, **kwargs)

    return connected


def _access(bootstrap_server: str, command_config: Path | None) -> ClusterAccess:
    properties, _ = read_client_properties(command_config)
    access = ClusterAccess.of(properties)
    if "bootstrap.servers" not in properties or was_typed("bootstrap_server"):
        access = ClusterAccess(bootstrap_server, access.properties)
    try:
        access.librdkafka()
    except InvalidPropertiesError as failure:
        raise click.BadParameter(str(failure), param_hint="--command-config") from None
    return access


def was_typed(parameter: str) -> bool:
    """Tell whether an option stands on the command line, and not in the environment only."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is click.core.ParameterSource.COMMANDLINE


def _check_servers(_context: click.Context, _option: click.Parameter, value: str) -> str:
    for server in value.split(","):
        if not re.fullmatch(
            r"(\w+://)?(\[[0-9a-fA-F:.%]+\]|[^:\s\[\]]+)(:\d{1,5})?", server.strip()
        ):
            raise click.BadParameter(f"'{server}' is not of the form HOST:PORT")
    return value
