"""Options that every command of an HTTP service has: where it listens, and whom it lets in."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.options.exposure import check_http_exposure, insecure_option
from headwater.clients.cluster_access import DEFAULT_SERVERS

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.clients.connection import Connection
    from headwater.http.listener_settings import ListenerConfig

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@dataclass(frozen=True)
class ListenerOptions:
    """What was typed; None is what was not, and stays as the settings have it."""

    host: str | None
    port: int | None
    users: Path | None
    certificate: Path | None
    key: Path | None
    insecure: bool = False

    def set_in(self, config: ListenerConfig) -> None:
        """Set what was typed above what a service's settings say.

        Raises UsageError if the service would be open to the network.
        """
        given = {
            "host": self.host,
            "port": self.port,
            "users_file": self.users,
            "certificate_file": self.certificate,
            "key_file": self.key,
        }
        for name, option in given.items():
            if option is not None:
                setattr(config, name, option)
        check_http_exposure(config, is_insecure=self.insecure)


def listener_options(default_port: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command --port, --host, --users and the like, as `listener`."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            "--port",
            type=click.IntRange(0, 65535),
            help="Port to listen on; 0 takes a free one and says which."
            f"  [default: {default_port}]",
        )
        @click.option(
            "--host",
            metavar="ADDRESS",
            help="Address to listen on; 0.0.0.0 is every interface.  [default: 127.0.0.1]",
        )
        @click.option(
            "--users",
            metavar="FILE",
            type=_FILE,
            help="Users, for basic authentication: lines of NAME: PASSWORD.",
        )
        @click.option(
            "--certificate",
            metavar="FILE",
            type=_FILE,
            help="A certificate chain in PEM format: serve https.",
        )
        @click.option("--key", metavar="FILE", type=_FILE, help="The certificate's private key.")
        @insecure_option
        @functools.wraps(command)
        def listening(
            *args: Any,
            host: str | None,
            port: int | None,
            users: Path | None,
            certificate: Path | None,
            key: Path | None,
            insecure: bool | None,
            **kwargs: Any,
        ) -> Any:
            listener = ListenerOptions(host, port, users, certificate, key, bool(insecure))
            return command(*args, listener=listener, **kwargs)

        return listening

    return decorate


def servers_asked_for(connection: Connection) -> str | None:
    """Return the brokers that options, properties or the environment name; None if none do."""
    source = click.get_current_context().get_parameter_source("bootstrap_server")
    is_default = source is click.core.ParameterSource.DEFAULT
    if is_default and connection.bootstrap_servers == DEFAULT_SERVERS:
        return None
    return connection.bootstrap_servers
