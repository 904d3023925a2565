"""`headwater monitor`: watch a cluster's groups."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.connection import connection_options
from headwater.cli.options.listeners import ListenerOptions, listener_options, servers_asked_for
from headwater.cli.options.service_settings import explained, given_settings, settings_options
from headwater.cli.output import note

if TYPE_CHECKING:
    from headwater.clients.connection import Connection

DEFAULT_PORT = 9308


@click.group(cls=LazyGroup)
def monitor() -> None:
    """Watch how far consumer groups are behind, and whether that is well."""


@monitor.command(
    epilog="""\b
Examples:
  headwater monitor server
  headwater monitor server --bootstrap-server kafka:9092 --port 9308
  headwater monitor server --property cluster.name=plant --property group.exclude='^console-'

\b
Then:
  curl http://localhost:9308/metrics
  curl http://localhost:9308/v3/kafka/default/consumer/GROUP/lag

The names are those of kafka_exporter, Kafka Lag Exporter and Burrow, so that their dashboards work.
Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@connection_options
@listener_options(DEFAULT_PORT)
@settings_options("monitor", "its own", "properties file")
def server(
    connection: Connection,
    listener: ListenerOptions,
    config_file: Path | None,
    properties: tuple[str, ...],
) -> int:
    """Serve metrics and verdicts until Ctrl-C; the cluster may come and go meanwhile."""
    from headwater.clients import ClusterAccess
    from headwater.monitor.config import MonitorConfig
    from headwater.monitor.settings import MONITOR_SETTINGS

    settings = given_settings(MONITOR_SETTINGS, config_file, properties)
    with explained(settings):
        config = MonitorConfig.from_settings(settings)
        listener.set_in(config)
        config.check()
    config.access = ClusterAccess(
        servers_asked_for(connection) or config.access.bootstrap_servers,
        {**config.access.properties, **connection.access.properties},
    )

    # Only now: a wrong setting should not have to wait for the server's imports.
    from headwater.monitor.run import run

    return run(config)


@monitor.command(
    epilog="""\b
Examples:
  headwater monitor dashboards ./dashboards

Grafana imports them, or finds them there if its provisioning names the folder."""
)
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
def dashboards(directory: Path) -> None:
    """Write dashboards for Grafana to a folder."""
    import json

    from headwater.monitor.dashboards import DASHBOARDS, grafana

    directory.mkdir(parents=True, exist_ok=True)
    for dashboard in DASHBOARDS:
        path = directory / f"{dashboard.name}.json"
        path.write_text(json.dumps(grafana(dashboard), indent=2) + "\n")
        note(f"Wrote {path}.")


@monitor.command(
    epilog="""\b
Examples:
  headwater monitor rules > /etc/prometheus/headwater.yml
  headwater monitor rules --rules my-rules.toml

Prometheus loads the file if its rule_files name it, and Alertmanager tells whom it should."""
)
@click.option(
    "--rules",
    "rules_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A rule file of your own, in place of the usual rules.",
)
def rules(rules_file: Path | None) -> None:
    """Print alerting rules for Prometheus: those that the monitor checks itself."""
    from headwater.monitor.alerts.prometheus import rule_file
    from headwater.monitor.alerts.rule_file import RuleFileError, read_rules
    from headwater.monitor.alerts.rules import DEFAULT_RULES

    try:
        wanted = DEFAULT_RULES if rules_file is None else read_rules(rules_file)
    except RuleFileError as failure:
        raise click.BadParameter(str(failure), param_hint="--rules") from None
    click.echo(rule_file(wanted), nl=False)
