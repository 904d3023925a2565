"""`headwater up`: the broker and everything around it, in one supervised tree of processes."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.options import parse_assignments
from headwater.cli.output import print_table
from headwater.cli.service_settings import check_settings, given_in_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.up.platform import Plan, Settings

CONFIG_FILE = Path("headwater.toml")
_CONNECT_WITHIN_S = 5.0


@click.command(
    epilog="""\b
Examples:
  headwater up
  headwater up --data ./data --port-offset 10000
  headwater up --property broker.num.partitions=3
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
    help="Move all ports (9092, 8081) by so much.",
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
    help="Where the options can stand as well.  [default: headwater.toml, if it is there]",
)
def up(config_file: Path | None, properties: tuple[str, ...], **options: Any) -> int:
    """Run the broker and the schema registry until Ctrl-C.

    What dies is started again. The log of all is printed, with the service's name on each line.
    """
    from headwater.cluster import ClusterError
    from headwater.java.artifacts import ArtifactError
    from headwater.java.runtime import JavaNotFound
    from headwater.up.platform import Plan
    from headwater.up.ports import PortTakenError

    try:
        plan = Plan(_settings(config_file, parse_assignments(properties, "--property"), options))
    except (PortTakenError, ClusterError, ArtifactError, JavaNotFound) as failure:
        raise CommandError(str(failure)) from None
    try:
        return _run(plan)
    finally:
        plan.close()


def _run(plan: Plan) -> int:
    import asyncio

    from headwater.up.log_lines import LogLines
    from headwater.up.supervisor import Supervisor

    def show_table() -> None:
        print_table(
            ["SERVICE", "LISTENS ON", "WHAT"],
            [(each.name, each.address, each.description) for each in plan.services],
        )
        sys.stdout.flush()

    names = [service.name for service in plan.services]
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    log = LogLines(names, sys.stdout, colours=colours)

    async def supervise() -> int:
        return await Supervisor(plan.services, log, on_ready=show_table).run()

    return asyncio.run(supervise())


def _settings(
    config_file: Path | None, properties: Mapping[str, str], options: Mapping[str, Any]
) -> Settings:
    from headwater.config.given import Given
    from headwater.config.sources import from_options
    from headwater.up.platform import Settings
    from headwater.up.ports import PORTS

    if config_file is None and CONFIG_FILE.is_file():
        config_file = CONFIG_FILE
    in_file = {} if config_file is None else _read(config_file)
    chosen = _options_in(in_file.pop("up", {}), config_file) | {
        name: value for name, value in options.items() if value is not None
    }
    of_services = {name: given_in_table(name, t, config_file) for name, t in in_file.items()}
    for name, value in properties.items():
        service, _, setting = name.partition(".")
        option = from_options({setting: value}, "--property")
        of_services[service] = of_services.get(service, Given()) | option
    known = _settable(chosen, PORTS)
    for service, given in of_services.items():
        if service not in known or "" in given:
            raise click.UsageError(
                f"There is no service '{service}'; there are {', '.join(known)}. "
                "A setting is named after its service, as in broker.num.partitions."
            )
    if "listeners" in of_services.get("broker", {}):
        raise click.UsageError("Where the broker listens is set with --host and --port-offset.")
    for service, given in of_services.items():
        if chosen.get("engine") != "kafka" or service == "registry":
            check_settings(service, given)
    chosen["racks"] = tuple(filter(None, chosen.get("racks", "").split(",")))
    if chosen.get("command_config") and not chosen.get("bootstrap_server"):
        raise click.UsageError("--command-config is for the cluster of --bootstrap-server.")
    if chosen.get("bootstrap_server"):
        _check_reachable(chosen["bootstrap_server"])
    return Settings(properties=of_services, **chosen)


def _settable(chosen: Mapping[str, Any], ports: Mapping[str, int]) -> list[str]:
    if chosen.get("engine") != "kafka":
        for name in ("brokers", "controllers", "racks"):
            if name in chosen:
                raise click.UsageError(f"--{name} is for --engine kafka; ours is one broker.")
        return list(ports)
    if "bootstrap_server" in chosen:
        raise click.UsageError("Give --engine kafka to start one, or --bootstrap-server, not both.")
    from headwater.up.kafka import node_names
    from headwater.up.platform import default_data

    data = chosen.get("data") or default_data()
    nodes = node_names(data, chosen.get("brokers"), chosen.get("controllers"))
    return list(dict.fromkeys([*nodes, *ports]))


def _read(path: Path) -> dict[str, dict[str, str]]:
    from headwater.config.toml import parse_toml

    try:
        flat = parse_toml(path.read_text("utf-8"))
    except ValueError as failure:
        raise click.UsageError(f"{path}: {failure}") from None
    tables: dict[str, dict[str, str]] = {}
    for name, value in flat.items():
        table, dot, key = name.partition(".")
        if not dot:
            raise click.UsageError(f"{path}: put '{name}' under [up], or under its service")
        tables.setdefault(table, {})[key] = value
    return tables


def _options_in(given: Mapping[str, str], path: Path | None) -> dict[str, Any]:
    context = click.get_current_context()
    options = {
        option.name.replace("_", "-"): option
        for option in up.params
        if isinstance(option, click.Option)
        and option.name
        and option.name not in ("config_file", "properties")
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
