"""Connections to a schema registry: options, the client made from them, failures in plain words."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde import SchemaRegistryClient

DEFAULT_URL = "http://localhost:8081"


def registry_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command --registry and what goes with it, handed over as `registry`."""

    @click.option(
        "-r",
        "--registry",
        "registry_url",
        metavar="URL[,...]",
        default=DEFAULT_URL,
        show_default=True,
        envvar="HEADWATER_REGISTRY",
        show_envvar=True,
        help="Schema registry.",
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
        help="Certificate (PEM) of who signed the registry's.",
    )
    @functools.wraps(command)
    def connected(
        *args: Any,
        registry_url: str,
        registry_user: str | None,
        registry_ca: Path | None,
        **kwargs: Any,
    ) -> Any:
        from headwater.serde import RegistryError, RegistryUnreachableError, SchemaError

        client = _client(registry_url, registry_user, registry_ca)
        try:
            return command(*args, registry=client, **kwargs)
        except RegistryUnreachableError as failure:
            raise CommandError(f"{failure} Start one with: headwater up") from None
        except (RegistryError, SchemaError) as failure:
            raise CommandError(str(failure)) from None
        finally:
            client.close()

    return connected


def _client(url: str, user: str | None, ca: Path | None) -> SchemaRegistryClient:
    from headwater.serde import SchemaRegistryClient

    name, colon, password = (user or "").partition(":")
    if user is not None and not colon:
        raise click.BadParameter(
            "it is not of the form USER:PASSWORD", param_hint="--registry-user"
        )
    try:
        return SchemaRegistryClient(
            url,
            username=name or None,
            password=password or None,
            ca_file=None if ca is None else str(ca),
            # Somebody waits at the keyboard: they should hear of a wrong address soon.
            retries=1,
        )
    except ValueError as failure:
        raise click.BadParameter(str(failure), param_hint="--registry") from None
