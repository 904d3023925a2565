"""What an operator gave a service: in a file, in the environment, on the command line.

headwater.toml is one file for the platform, with a table for each service. A service that is
started alone takes its own table from it, and leaves the others alone.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.options.values import parse_assignments
from headwater.clients.errors import InvalidPropertiesError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from headwater.config import Definitions
    from headwater.config.given import Given
    from headwater.http.listener_settings import ListenerConfig


def settings_options(
    service: str, names: str, file: str
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a service's command --config and --property, as `config_file` and `properties`.

    `names` says whose names its settings have, and `file` what they call their file of them.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        command = click.option(
            "--property",
            "properties",
            metavar="NAME=VALUE",
            multiple=True,
            help=f"A setting by {names} name, on top of the file; may be given several times.",
        )(command)
        return click.option(
            "--config",
            "config_file",
            metavar="FILE",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help=f"Settings: {names} {file}, the same names in a .toml file, or headwater.toml "
            f"with a table [{service}].",
        )(command)

    return decorate


def given_settings(
    definitions: Definitions, config_file: Path | None, properties: Iterable[str]
) -> Given:
    """Return the settings of a service: the file's, above them the environment's, then --property.

    The file is a properties file, a TOML file of such names, or headwater.toml. References to
    secrets are resolved, but for those of client libraries: `ClusterAccess` resolves these.
    """
    from headwater.config import sources
    from headwater.config.given import Given

    given = Given()
    if config_file is not None:
        from headwater.up.ports import PORTS
        from headwater.up.services.spark import SPARK

        try:
            given = sources.from_file(config_file, definitions, {"up", SPARK, *PORTS})
        except ValueError as failure:  # wrong TOML, wrong UTF-8 or a wrong kind of value
            raise click.BadParameter(str(failure), param_hint="--config") from None
    try:
        given |= sources.from_environment(os.environ, definitions)
    except ValueError as failure:
        raise click.UsageError(str(failure)) from None
    for variable, meant in sources.misspelt_variables(os.environ, definitions).items():
        click.echo(f"{variable} sets nothing; did you mean {meant}?", err=True)
    given |= sources.from_options(parse_assignments(properties, "--property"), "--property")
    return _resolved(given, definitions)


@contextmanager
def explained(given: Given) -> Iterator[None]:
    """Make a usage error of what is wrong with a service's settings, with the place of the one."""
    from headwater.config import ConfigError

    try:
        yield
    except ConfigError as failure:
        raise click.UsageError(given.explain(failure)) from None
    except InvalidPropertiesError as failure:
        raise click.UsageError(str(failure)) from None


def given_in_table(service: str, table: Mapping[str, str], config_file: Path | None) -> Given:
    """Return what a service's table in headwater.toml says and the environment does not.

    Services read the environment themselves, and it wins.
    """
    from headwater.config.sources import from_options, variable_of

    beneath = {n: text for n, text in table.items() if variable_of(service, n) not in os.environ}
    return from_options(beneath, f"{config_file}, [{service}]")


def check_settings(service: str, given: Given) -> None:
    """Refuse what a service could not take, before it is started and says so itself."""
    from headwater.config import ConfigError
    from headwater.http.errors import StartError

    # The service resolves them anew; what is handed to it are the references.
    given = _resolved(given)
    try:
        match service:
            case "broker":
                from headwater.broker.config import BrokerConfig

                BrokerConfig(given)
            case "registry":
                from headwater.registry.config import RegistryConfig

                _check_listener(RegistryConfig.from_settings(given))
            case "rest":
                from headwater.rest.config import RestConfig

                _check_listener(RestConfig.from_settings(given))
            case "monitor":
                from headwater.monitor.config import MonitorConfig

                _check_listener(MonitorConfig.from_settings(given))
            case "console":
                from headwater.console.config import ConsoleConfig

                _check_listener(ConsoleConfig.from_settings(given))
            case "connect" if given.get("engine") == "kafka":
                return  # Kafka's worker says itself what it thinks of its settings
            case _:
                _check_spark_service(service, given)
    except ConfigError as failure:
        raise click.UsageError(given.explain(failure)) from None
    except StartError as failure:
        raise click.UsageError(f"[{service}]: {failure}") from None
    except OSError as failure:  # of a certificate
        raise click.UsageError(f"[{service}]: {failure.filename}: {failure.strerror}") from None


def _resolved(given: Given, definitions: Definitions | None = None) -> Given:
    from headwater.config.references import UnresolvedReferenceError

    try:
        return given.resolved(definitions)
    except UnresolvedReferenceError as failure:
        raise click.UsageError(str(failure)) from None


def _check_listener(config: ListenerConfig) -> None:
    config.check()
    config.tls()
    config.rights()


def _check_spark_service(service: str, given: Given) -> None:
    from headwater.spark_services.spark_service import load_service, read_settings
    from headwater.up.services import SERVICES
    from headwater.up.services.spark import SparkServiceFactory

    for factory in SERVICES:
        if isinstance(factory, SparkServiceFactory) and factory.name == service:
            _, listener = read_settings(load_service(factory.target), given)
            _check_listener(listener)
