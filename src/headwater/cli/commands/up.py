"""`headwater up`: the broker and everything around it, in one supervised tree of processes."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.exposure import insecure_option
from headwater.cli.options.service_settings import check_settings, given_in_table
from headwater.cli.options.values import parse_assignments
from headwater.cli.output import json_option, print_table
from headwater.cli.up.platform_data import CONFIG_FILE, platform_data, read_tables
from headwater.cli.up.security import check_platform_exposure, how_to_connect, security_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.up.platform import Platform
    from headwater.up.settings import PlatformSettings

_CONNECT_WITHIN_S = 5.0
_NOT_IN_A_FILE = ("config_file", "properties", "status", "as_json")
_TIMING = {"health_interval": "look_every_s", "restart_after_misses": "restart_after_misses"}


@click.command(
    epilog="""\b
Examples:
  headwater up
  headwater up --data ./data --port-offset 10000
  headwater up --property broker.num.partitions=3
  headwater up --without registry,console
  headwater up --with rest
  headwater up --secure
  headwater up --status
  headwater up --bootstrap-server kafka-1:9092,kafka-2:9092
  headwater up --bootstrap-server kafka-1:9093 --command-config client.properties
  headwater up --engine kafka --brokers 3 --controllers 3 --racks a,b,c

\b
headwater.toml, read from the working directory if it is there:
  [up]
  data = "data"
  port-offset = 10000
  [broker]
  num.partitions = 3

Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0; a second Ctrl-C forces it."""
)
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where all data is kept; created if need be.  [default: ~/.headwater/up]",
)
@click.option("--host", metavar="ADDRESS", help="Address that all listen on.  [default: 127.0.0.1]")
@click.option(
    "--port-offset",
    metavar="N",
    type=click.IntRange(-1023, 56000),
    help="Move all ports (9092, 8081, 9021, 9020 ...) by so much.",
)
@click.option(
    "--free-ports", is_flag=True, default=None, help="Take any free ports, and say which."
)
@click.option(
    "--bootstrap-server",
    metavar="HOST:PORT[,...]",
    help="Use this cluster instead of the embedded broker.",
)
@click.option(
    "--command-config",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Client properties (security and the like) for that cluster, as Kafka's tools take them.",
)
@click.option(
    "--secure",
    is_flag=True,
    default=None,
    help="TLS, passwords and ACLs everywhere, with keys that are made if there are none yet, an"
    " admin and a user demo.",
)
@click.option(
    "--security",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="The keys for --secure, as `headwater security init` makes them.  [default: security in"
    " the data directory]",
)
@insecure_option
@click.option(
    "--engine",
    type=click.Choice(["embedded", "kafka"]),
    help="Which broker to start: Headwater's own, or Apache Kafka.  [default: embedded]",
)
@click.option(
    "--brokers",
    metavar="N",
    type=click.IntRange(1, 100),
    help="How many brokers Apache Kafka has; a cluster can grow.  [default: what is there, else 1]",
)
@click.option(
    "--controllers",
    metavar="M",
    type=click.IntRange(1, 100),
    help="How many controllers it has; 3 survive the loss of one.  [default: 1, which for a single "
    "broker is the broker itself]",
)
@click.option(
    "--racks",
    metavar="NAME[,...]",
    help="Racks, or data centres, to which its brokers belong in turn.",
)
@click.option(
    "--services",
    metavar="NAME[,...]",
    help="Run these, and what they need, instead of all.",
)
@click.option("--with", "with_services", metavar="NAME[,...]", help="Run these services as well.")
@click.option("--without", "without_services", metavar="NAME[,...]", help="Leave these out.")
@click.option(
    "--health-interval",
    metavar="SECONDS",
    type=click.FloatRange(0.1, 3600),
    help="How often the health of each service is checked.  [default: 5]",
)
@click.option(
    "--restart-after-misses",
    metavar="N",
    type=click.IntRange(0, 1_000_000),
    help="Restart a service that has missed so many such checks in a row; 0 never does."
    "  [default: 24]",
)
@click.option(
    "--property",
    "properties",
    metavar="SERVICE.NAME=VALUE",
    multiple=True,
    help="A setting of a service, on top of the file; may be given several times.",
)
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A file with these options.  [default: headwater.toml, if it is there]",
)
@click.option("--status", is_flag=True, help="Show the state of a platform's services, and exit.")
@json_option
def up(
    config_file: Path | None,
    properties: tuple[str, ...],
    status: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Run the broker, the schema registry and the console until Ctrl-C.

    A service that dies is restarted. All logs are printed, with the service's name on each line.
    """
    from headwater.cluster import ClusterError
    from headwater.http.listening import ListenError
    from headwater.java.artifacts import ArtifactError
    from headwater.java.runtime import JavaNotFound
    from headwater.up.platform import Platform
    from headwater.up.ports import PortTakenError
    from headwater.up.running import DataDirectoryError
    from headwater.up.services import SelectionError

    if as_json and not status:
        raise click.UsageError("--json is for --status.")
    if status:
        from headwater.cli.up.status import show_status

        return show_status(platform_data(options["data"], config_file), as_json=as_json)
    settings = _settings(config_file, parse_assignments(properties, "--property"), options)
    try:
        with Platform(settings) as platform:
            return _run(platform)
    except SelectionError as failure:
        raise click.UsageError(f"{failure}.") from None
    except (
        *(PortTakenError, ListenError, DataDirectoryError),
        *(ClusterError, ArtifactError, JavaNotFound),
    ) as failure:
        raise CommandError(str(failure)) from None


def _run(platform: Platform) -> int:
    import asyncio

    from headwater.http.listening import listen, url_of
    from headwater.logs.lines import LogFormat, log_format
    from headwater.up.log_lines import LogLines
    from headwater.up.ports import STATUS_HOST
    from headwater.up.running import announced
    from headwater.up.status_api import StatusApi
    from headwater.up.supervisor import Supervisor

    def show_table() -> None:
        places = [place for service in platform.services for place in service.endpoints]
        if log_format() is LogFormat.JSON:
            for each in places:
                log.say(f"{each.name} listens on {each.address}: {each.description}")
            return
        print_table(
            ["SERVICE", "LISTENS ON", "WHAT"],
            [(each.name, each.address, each.description) for each in places],
        )
        if settings.security is not None:
            for line in how_to_connect(platform, settings.security):
                click.echo(line)
        sys.stdout.flush()

    names = [service.name for service in platform.services]
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    log = LogLines(names, sys.stdout, colours=colours)

    settings = platform.settings

    async def supervise(listening: socket.socket, url: str) -> int:
        supervisor = Supervisor(platform.services, log, on_ready=show_table, timing=settings.timing)
        async with StatusApi(platform, supervisor, listening):
            log.say(f"status on {url}, or with: headwater up --status")
            return await supervisor.run()

    with listen(STATUS_HOST, platform.status_port) as listening:
        kit = settings.security
        url = url_of(listening, "http" if kit is None else "https", STATUS_HOST)
        with announced(settings.data, url, None if kit is None else kit.folder):
            return asyncio.run(supervise(listening, url))


def _settings(
    config_file: Path | None, properties: Mapping[str, str], options: Mapping[str, Any]
) -> PlatformSettings:
    from headwater.config.given import Given
    from headwater.config.sources import from_options, others_from_environment
    from headwater.up.services import SERVICES
    from headwater.up.services.spark import SPARK, SparkServiceFactory
    from headwater.up.settings import PlatformSettings
    from headwater.up.timing import Timing

    if config_file is None and CONFIG_FILE.is_file():
        config_file = CONFIG_FILE
    in_file = {} if config_file is None else read_tables(config_file)
    chosen = _options_in(in_file.pop("up", {}), config_file) | {
        name: value for name, value in options.items() if value is not None
    }
    of_services = {name: given_in_table(name, t, config_file) for name, t in in_file.items()}
    for service in (each.name for each in SERVICES):
        # The variable is made anew for the service, and what is in it goes along.
        try:
            others = others_from_environment(os.environ, service)
        except ValueError as failure:
            raise click.UsageError(str(failure)) from None
        if others:
            of_services[service] = of_services.get(service, Given()) | others
    for name, value in properties.items():
        service, _, setting = name.partition(".")
        option = from_options({setting: value}, "--property")
        of_services[service] = of_services.get(service, Given()) | option
    on_spark = [each.name for each in SERVICES if isinstance(each, SparkServiceFactory)]
    names = [each.name for each in SERVICES] + ([SPARK] if on_spark else [])
    known = _settable(chosen, names)
    for service, given in of_services.items():
        if service not in known or "" in given:
            raise click.UsageError(
                f"There is no service '{service}'; there are {', '.join(known)}. "
                "A setting is named after its service, as in broker.num.partitions."
            )
    if "listeners" in of_services.get("broker", {}):
        raise click.UsageError("Where the broker listens is set with --host and --port-offset.")
    for service, given in of_services.items():
        # Kafka's nodes say themselves what they think of theirs.
        is_node = service == "broker" or service not in names
        if chosen.get("engine") != "kafka" or not is_node:
            check_settings(service, given)
    for name in ("racks", "services", "with_services", "without_services"):
        if name in chosen:
            chosen[name] = tuple(each.strip() for each in chosen[name].split(",") if each.strip())
    timing = {setting: chosen.pop(name) for name, setting in _TIMING.items() if name in chosen}
    if chosen.get("command_config") and not chosen.get("bootstrap_server"):
        raise click.UsageError("--command-config is for the cluster of --bootstrap-server.")
    if chosen.get("bootstrap_server"):
        _check_reachable(chosen["bootstrap_server"])
    chosen["security"] = security_of(chosen, of_services.get("broker", {}))
    check_platform_exposure(chosen)
    return PlatformSettings(properties=of_services, timing=Timing(**timing), **chosen)


def _settable(chosen: Mapping[str, Any], services: list[str]) -> list[str]:
    if chosen.get("engine") != "kafka":
        for name in ("brokers", "controllers", "racks"):
            if name in chosen:
                raise click.UsageError(f"--{name} is for --engine kafka; ours is one broker.")
        return services
    if "bootstrap_server" in chosen:
        raise click.UsageError("Give --engine kafka to start one, or --bootstrap-server, not both.")
    from headwater.up.services.kafka import node_names
    from headwater.up.settings import default_data

    data = chosen.get("data") or default_data()
    nodes = node_names(data, chosen.get("brokers"), chosen.get("controllers"))
    return list(dict.fromkeys([*nodes, *services]))


def _options_in(given: Mapping[str, str], path: Path | None) -> dict[str, Any]:
    context = click.get_current_context()
    options = {
        option.opts[0].removeprefix("--"): option
        for option in up.params
        if isinstance(option, click.Option) and option.name not in _NOT_IN_A_FILE
    }
    chosen: dict[str, Any] = {}
    for name, value in given.items():
        if name not in options:
            raise click.UsageError(
                f"{path}: there is no option '{name}' under [up]; there are {', '.join(options)}"
            )
        option = options[name]
        if path is not None and isinstance(option.type, click.Path):
            value = str(path.parent / value)
        chosen[option.name or name] = option.type.convert(value, option, context)
    return chosen


def _check_reachable(servers: str) -> None:
    reasons = []
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":")
        if not host or not port.isdigit():
            raise click.BadParameter(
                f"'{server}' is not of the form HOST:PORT", param_hint="--bootstrap-server"
            )
        try:
            socket.create_connection((host.strip("[]"), int(port)), _CONNECT_WITHIN_S).close()
        except OSError as failure:
            reasons.append(f"{server}: {failure.strerror or failure}")
        else:
            return
    raise CommandError(f"no broker answered ({'; '.join(reasons)})")
