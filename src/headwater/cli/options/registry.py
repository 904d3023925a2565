"""Options that say where the registry is and as whom; failures in plain words."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.client_properties import read_client_properties
from headwater.cli.options.connection import command_config_option, was_typed
from headwater.clients.programs import registry_environment
from headwater.clients.registry_access import DEFAULT_URL, PREFIX, RegistryAccess

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde import SchemaRegistryClient

_FILE = "command_config"
_NAMES = {
    "registry_url": "url",
    "registry_user": "basic.auth.user.info",
    "registry_ca": "ssl.ca.location",
}


def registry_access_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --registry and what goes with it, handed over as `registry_properties`.

    These are what the command line says, in Confluent's names: typed, or else in the file of
    --command-config. What the environment says is left out.
    """
    has_file = any(each.name == _FILE for each in getattr(command, "__click_params__", ()))

    @click.option(
        "-r",
        "--registry",
        "registry_url",
        metavar="URL[,...]",
        envvar="HEADWATER_REGISTRY",
        show_envvar=True,
        help=f"Schema registry.  [default: {DEFAULT_URL}]",
    )
    @click.option(
        "--registry-user",
        metavar="USER:PASSWORD",
        envvar="HEADWATER_REGISTRY_USER",
        show_envvar=True,
        help="For a registry with basic auth.",
    )
    @click.option(
        "--registry-ca",
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        envvar="HEADWATER_REGISTRY_CA",
        show_envvar=True,
        help="Certificate (PEM) of the CA that signed the registry's.",
    )
    @functools.wraps(command)
    def accessed(*args: Any, **kwargs: Any) -> Any:
        options = {name: kwargs.pop(option) for option, name in _NAMES.items()}
        typed = {
            name: str(options[name])
            for option, name in _NAMES.items()
            if options[name] is not None and was_typed(option)
        }
        # A command that also connects to a cluster reads the same file for it.
        file = kwargs.get(_FILE) if has_file else kwargs.pop(_FILE)
        _, in_file = read_client_properties(file)
        said = {name.removeprefix(PREFIX): value for name, value in in_file.items()}
        return command(*args, registry_properties={**said, **typed}, **kwargs)

    return accessed if has_file else command_config_option(accessed)


def registry_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --registry and what goes with it, handed over as `registry`, a client."""

    @registry_access_options
    @functools.wraps(command)
    def connected(*args: Any, registry_properties: dict[str, str], **kwargs: Any) -> Any:
        from headwater.serde import RegistryError, RegistryUnreachableError, SchemaError

        client = _client({**registry_environment(), **registry_properties})
        try:
            return command(*args, registry=client, **kwargs)
        except RegistryUnreachableError as failure:
            raise CommandError(f"{failure} Start one with: headwater up") from None
        except (RegistryError, SchemaError) as failure:
            raise CommandError(str(failure)) from None
        finally:
            client.close()

    return connected


def _client(properties: dict[str, str]) -> SchemaRegistryClient:
    from headwater.serde import SchemaRegistryClient

    try:
        # Somebody waits at the keyboard: they should hear of a wrong address soon.
        return SchemaRegistryClient(RegistryAccess.of(properties), retries=1)
    except ValueError as failure:
        raise click.UsageError(f"The registry: {failure}") from None
