"""`headwater spark-services`: those that need Spark, in one process; `headwater up` starts it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.connection import connection_options
from headwater.cli.options.exposure import check_http_exposure, insecure_option
from headwater.cli.options.service_settings import given_settings
from headwater.cli.options.values import parse_assignments

if TYPE_CHECKING:
    from headwater.clients.connection import Connection
    from headwater.config.given import Given
    from headwater.spark_services.spark_service import SparkService


@click.command(
    hidden=True,
    epilog="""\b
Examples:
  headwater spark-services --service my_package.service:SERVICE 8083
  headwater spark-services --service a:A 8083 --service b:B 8088 --property spark.driver.memory=2g

Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0.""",
)
@connection_options
@click.option(
    "--service",
    "services",
    metavar="MODULE:NAME PORT",
    type=(str, click.IntRange(0, 65535)),
    multiple=True,
    required=True,
    help="A service, and the port that it listens on; may be given several times.",
)
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--property",
    "properties",
    metavar="SERVICE.NAME=VALUE",
    multiple=True,
    help="A setting of a service, or of Spark, as in spark.driver.memory=2g.",
)
@insecure_option
def spark_services(
    connection: Connection,
    services: tuple[tuple[str, int], ...],
    host: str,
    properties: tuple[str, ...],
    insecure: bool | None,
) -> int:
    """Run services that need Spark until Ctrl-C; they share one JVM."""
    from headwater.config.references import References, UnresolvedReferenceError
    from headwater.http.errors import StartError
    from headwater.spark_services.process import HostedService, run
    from headwater.spark_services.spark_service import load_service
    from headwater.up.services.spark import SPARK, SPARK_VARIABLE

    assigned = parse_assignments(properties, "--property")
    try:
        loaded = [(load_service(target), port) for target, port in services]
    except StartError as failure:
        raise CommandError(str(failure)) from None
    names = [SPARK, *(service.name for service, _ in loaded)]
    for name in assigned:
        if name.partition(".")[0] not in names:
            raise click.UsageError(f"{name} is a setting of none of {', '.join(names)}.")
    hosted = []
    for service, port in loaded:
        own = [
            f"{name.removeprefix(f'{service.name}.')}={value}"
            for name, value in assigned.items()
            if name.startswith(f"{service.name}.")
        ]
        given = given_settings(service.definitions, None, own)
        if not insecure:
            _check_exposure(service, host, given)
        hosted.append(HostedService(service, host, port, given))
    by_platform = json.loads(os.environ.get(SPARK_VARIABLE) or "{}")
    conf = {f"{SPARK}.{name}": value for name, value in by_platform.items()}
    conf |= {name: value for name, value in assigned.items() if name.startswith(f"{SPARK}.")}
    try:
        conf = References().resolve_all(conf)
    except UnresolvedReferenceError as failure:
        raise click.UsageError(str(failure)) from None
    return run(hosted, connection.access, conf)


def _check_exposure(service: SparkService, host: str, given: Given) -> None:
    from headwater.config import ConfigError
    from headwater.spark_services.spark_service import read_settings

    try:
        _, listener = read_settings(service, given)
    except ConfigError:
        return  # the process says so when it starts, with the service's name
    listener.host = host
    check_http_exposure(listener, is_insecure=False)
