"""`headwater broker`: run the embedded broker in the foreground."""

from __future__ import annotations

from pathlib import Path

import click

from headwater.cli.options import parse_assignments
from headwater.cli.platform_file import service_settings
from headwater.processes.ports import EVERYWHERE

DEFAULT_PORT = 9092


@click.command(
    epilog="""\b
Examples:
  headwater broker
  headwater broker --port 9093 --data ./data
  headwater broker --property flush=os --property num.partitions=3
  headwater broker --config server.properties
  headwater broker --metrics-port 9308
  headwater broker --host 0.0.0.0 --property advertised.listeners=PLAINTEXT://myhost:9092

Stops cleanly on Ctrl-C and on SIGTERM, with exit code 0."""
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help=f"Port to listen on; 0 takes a free one and says which.  [default: {DEFAULT_PORT}]",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Address to listen on. The default is reachable from this machine only, since a broker "
    "without passwords should be; 0.0.0.0 is every interface, as Kafka's default."
    "  [default: 127.0.0.1]",
)
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the log is kept; created if need be.  [default: ~/.headwater/data]",
)
@click.option(
    "--config",
    "config_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Settings: a Kafka server.properties, the same names in a .toml file, or headwater.toml "
    "with a table [broker].",
)
@click.option(
    "--property",
    "properties",
    metavar="NAME=VALUE",
    multiple=True,
    help="A broker setting by Kafka's name, on top of the file; may be given several times.",
)
@click.option(
    "--metrics-port",
    type=click.IntRange(-1, 65535),
    help="Port at which Prometheus finds metrics, on the same address; 0 takes a free one and says "
    "which.  [default: none]",
)
def broker(
    port: int | None,
    host: str | None,
    data: Path | None,
    config_file: Path | None,
    properties: tuple[str, ...],
    metrics_port: int | None,
) -> int:
    """Run the embedded broker until Ctrl-C."""
    from headwater.broker.config import BrokerConfig, ConfigError
    from headwater.broker.config.settings import BROKER_SETTINGS

    settings = (
        {} if config_file is None else service_settings(config_file, "broker", BROKER_SETTINGS)
    )
    overrides = parse_assignments(properties, "--property")
    if data is not None:
        _refuse_both(overrides, "log.dirs", "--data")
        overrides["log.dirs"] = str(data)
    if metrics_port is not None:
        _refuse_both(overrides, "headwater.metrics.port", "--metrics-port")
        overrides["headwater.metrics.port"] = str(metrics_port)
    if port is not None or host is not None:
        _refuse_both(overrides, "listeners", "--port and --host")
    if port is not None or host is not None or "listeners" not in settings | overrides:
        overrides["listeners"] = _listener(host, DEFAULT_PORT if port is None else port)
    try:
        config = BrokerConfig(settings | overrides)
    except ConfigError as failure:
        raise click.UsageError(str(failure)) from None

    # Only now: a wrong setting should not have to wait for the server's imports.
    from headwater.broker.run import run

    return run(config)


def _listener(host: str | None, port: int) -> str:
    if host in EVERYWHERE:
        return f"PLAINTEXT://:{port}"
    host = host or "127.0.0.1"
    return f"PLAINTEXT://[{host}]:{port}" if ":" in host else f"PLAINTEXT://{host}:{port}"


def _refuse_both(overrides: dict[str, str], setting: str, options: str) -> None:
    if setting in overrides:
        raise click.UsageError(f"Give either {options} or --property {setting}=..., not both.")
