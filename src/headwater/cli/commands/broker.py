"""`headwater broker`: run the embedded broker in the foreground."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headwater.cli.options.exposure import check_broker_exposure, insecure_option
from headwater.cli.options.service_settings import explained, given_settings, settings_options
from headwater.processes.ports import EVERYWHERE

if TYPE_CHECKING:
    from headwater.config.given import Given

DEFAULT_PORT = 9092


@click.command(
    epilog="""\b
Examples:
  headwater broker
  headwater broker --port 9093 --data ./data
  headwater broker --property flush=os --property num.partitions=3
  headwater broker --config server.properties
  headwater broker --metrics-port 9308
  headwater broker --config security/broker.properties
  headwater broker --host 0.0.0.0 --insecure

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
    help="Address to listen on. The default is reachable from this machine only; 0.0.0.0 is every "
    "interface, as Kafka's default, and needs passwords, certificates or --insecure."
    "  [default: 127.0.0.1]",
)
@click.option(
    "--data",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the log is kept; created if need be.  [default: ~/.headwater/data]",
)
@settings_options("broker", "Kafka's", "server.properties")
@click.option(
    "--metrics-port",
    type=click.IntRange(-1, 65535),
    help="Port at which Prometheus finds metrics: on the same address, or on this machine alone "
    "where the broker asks clients who they are; 0 takes a free one and says which."
    "  [default: none]",
)
@insecure_option
def broker(
    port: int | None,
    host: str | None,
    data: Path | None,
    config_file: Path | None,
    properties: tuple[str, ...],
    metrics_port: int | None,
    insecure: bool | None,
) -> int:
    """Run the embedded broker until Ctrl-C."""
    from headwater.broker.config import BrokerConfig
    from headwater.broker.config.settings import BROKER_SETTINGS
    from headwater.config.given import Given
    from headwater.config.sources import from_options

    given = given_settings(BROKER_SETTINGS, config_file, properties)
    options = Given()
    if data is not None:
        _refuse_both(given, "log.dirs", "--data")
        options |= from_options({"log.dirs": str(data)}, "--data")
    if metrics_port is not None:
        _refuse_both(given, "headwater.metrics.port", "--metrics-port")
        setting = {"headwater.metrics.port": str(metrics_port)}
        options |= from_options(setting, "--metrics-port")
    if port is not None or host is not None:
        _refuse_both(given, "listeners", "--port and --host")
        _refuse_instead_of_secured(given)
    if port is not None or host is not None or "listeners" not in given:
        listener = _listener(host, DEFAULT_PORT if port is None else port)
        options |= from_options({"listeners": listener}, "--host and --port")
    given |= options
    with explained(given):
        config = BrokerConfig(given)
    check_broker_exposure(config, is_insecure=bool(insecure))

    # Only now: a wrong setting should not have to wait for the server's imports.
    from headwater.broker.run import run

    return run(config)


def _listener(host: str | None, port: int) -> str:
    if host in EVERYWHERE:
        return f"PLAINTEXT://:{port}"
    host = host or "127.0.0.1"
    return f"PLAINTEXT://[{host}]:{port}" if ":" in host else f"PLAINTEXT://{host}:{port}"


def _refuse_instead_of_secured(given: Given) -> None:
    """Refuse to listen in plain text where listeners are given that do not."""
    from headwater.broker.config import BrokerConfig

    if "listeners" not in given:
        return
    with explained(given):
        listeners = BrokerConfig(given).listeners
    secured = [str(each) for each in listeners if each.protocol != "PLAINTEXT"]
    if secured:
        raise click.UsageError(
            "--port and --host make one listener in plain text, and it would be in the place of "
            f"{', '.join(secured)} ({given.place('listeners')}: listeners). Leave them out, or say "
            "where to listen with --property listeners=..."
        )


def _refuse_both(given: Given, setting: str, options: str) -> None:
    if given.place(setting) == "--property":
        raise click.UsageError(f"Give either {options} or --property {setting}=..., not both.")
