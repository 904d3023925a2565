"""`headwater connect`: run workers, and manage connectors of any Connect worker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from headwater.cli.connect.client import connector_path, url_option
from headwater.cli.connect.connector_files import read_connector
from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyCommand, LazyGroup
from headwater.cli.output import json_option, note, print_json, print_table

if TYPE_CHECKING:
    from headwater.cli.connect.client import ConnectClient

_file = click.Path(exists=True, dir_okay=False, path_type=Path)
_WORKERS = "headwater.cli.commands.connect_worker"


@click.group(
    cls=LazyGroup,
    lazy_commands=(
        LazyCommand("worker", f"{_WORKERS}:worker", "Run a worker, which shares with its group."),
        LazyCommand("standalone", f"{_WORKERS}:standalone", "Run connectors of files."),
        LazyCommand("preview", f"{_WORKERS}:preview", "Show records that would be written."),
    ),
)
def connect() -> None:
    """Move data in and out of topics with connectors, as Kafka Connect does."""


@connect.command(
    "list",
    epilog="""\b
Examples:
  headwater connect list
  headwater connect list --url http://worker:8083 --json""",
)
@json_option
@url_option
def list_(client: ConnectClient, as_json: bool) -> None:
    """List connectors, and how they are."""
    found = client.ask("GET", "/connectors?expand=status&expand=info")
    if as_json:
        print_json(found)
        return
    rows = [
        (
            name,
            each["status"]["type"],
            each["status"]["connector"]["state"],
            [task["state"] for task in each["status"]["tasks"]],
            each["info"]["config"].get("connector.class"),
        )
        for name, each in sorted(found.items())
    ]
    print_table(["NAME", "TYPE", "STATE", "TASKS", "CLASS"], rows)


@connect.command(
    epilog="""\b
Examples:
  headwater connect create file-source.json
  headwater connect create connect-file-source.properties"""
)
@click.argument("file", type=_file)
@url_option
def create(client: ConnectClient, file: Path) -> None:
    """Make a connector of a file, or change it: JSON or properties."""
    name, config = read_connector(file)
    client.ask("PUT", connector_path(name, "config"), config)
    note(f"connector {name} is stored; see headwater connect describe {name}")


@connect.command(
    epilog="""\b
Examples:
  headwater connect describe file-source
  headwater connect describe file-source --json"""
)
@click.argument("name")
@json_option
@url_option
def describe(client: ConnectClient, name: str, as_json: bool) -> None:
    """Show a connector: its state, what went wrong, and its configuration."""
    info = client.ask("GET", connector_path(name))
    status = client.ask("GET", connector_path(name, "status"))
    if as_json:
        print_json({**info, "status": status})
        return
    click.echo(f"{name} ({status['type']}): {status['connector']['state']}")
    for task in status["tasks"]:
        why = f": {task['trace'].splitlines()[0]}" if task.get("trace") else ""
        click.echo(f"task {task['id']} on {task['worker_id']}: {task['state']}{why}")
    for field, value in status.get("progress", {}).items():
        click.echo(f"{field.replace('_', ' ')}: {value}")
    print_table(["PROPERTY", "VALUE"], sorted(info["config"].items()))


@connect.command(
    epilog="""\b
Examples:
  headwater connect validate file-source.json"""
)
@click.argument("file", type=_file)
@url_option
def validate(client: ConnectClient, file: Path) -> None:
    """Check a connector's file, and say what is wrong with which property."""
    name, config = read_connector(file)
    kind = str(config.get("connector.class", ""))
    if not kind:
        raise CommandError(f"{file}: the connector has no connector.class")
    path = f"/connector-plugins/{quote(kind, safe='')}/config/validate"
    infos = client.ask("PUT", path, config)
    wrong = [
        (each["value"]["name"], error)
        for each in infos["configs"]
        for error in each["value"]["errors"]
    ]
    if wrong or infos["error_count"]:
        listed = "\n".join(f"{field}: {error}" for field, error in wrong)
        raise CommandError(f"{name} has {infos['error_count']} error(s)\n{listed}")
    note(f"{name} is well")


def _told(client: ConnectClient, method: str, name: str, *path: str) -> None:
    client.ask(method, connector_path(name, *path))


@connect.command(
    epilog="""\b
Examples:
  headwater connect pause file-source"""
)
@click.argument("name")
@url_option
def pause(client: ConnectClient, name: str) -> None:
    """Let a connector rest."""
    _told(client, "PUT", name, "pause")


@connect.command(
    epilog="""\b
Examples:
  headwater connect resume file-source"""
)
@click.argument("name")
@url_option
def resume(client: ConnectClient, name: str) -> None:
    """Let a connector go on that was paused or stopped."""
    _told(client, "PUT", name, "resume")


@connect.command(
    epilog="""\b
Examples:
  headwater connect stop file-source"""
)
@click.argument("name")
@url_option
def stop(client: ConnectClient, name: str) -> None:
    """Let a connector give up what it holds; its offsets can be changed then."""
    _told(client, "PUT", name, "stop")


@connect.command(
    epilog="""\b
Examples:
  headwater connect restart file-source --only-failed"""
)
@click.argument("name")
@click.option("--only-failed", is_flag=True, help="Only if it has failed.")
@url_option
def restart(client: ConnectClient, name: str, only_failed: bool) -> None:
    """Open a connector and its tasks anew."""
    failed = "true" if only_failed else "false"
    _told(client, "POST", name, f"restart?includeTasks=true&onlyFailed={failed}")


@connect.command(
    epilog="""\b
Examples:
  headwater connect delete file-source"""
)
@click.argument("name")
@url_option
def delete(client: ConnectClient, name: str) -> None:
    """Delete a connector; its topics and offsets stay."""
    _told(client, "DELETE", name)


@connect.command(
    epilog="""\b
Examples:
  headwater connect offsets file-source
  headwater connect offsets file-source --reset"""
)
@click.argument("name")
@click.option("--reset", is_flag=True, help="Forget them; the connector has to be stopped.")
@url_option
def offsets(client: ConnectClient, name: str, reset: bool) -> None:
    """Show how far a connector is, or let it begin anew."""
    path = connector_path(name, "offsets")
    if reset:
        note(client.ask("DELETE", path)["message"])
    else:
        print_json(client.ask("GET", path)["offsets"])


@connect.command(
    epilog="""\b
Examples:
  headwater connect plugins --json"""
)
@json_option
@url_option
def plugins(client: ConnectClient, as_json: bool) -> None:
    """List the kinds of connectors that a worker has."""
    found = client.ask("GET", "/connector-plugins")
    if as_json:
        print_json(found)
    else:
        columns = ("class", "type", "version")
        rows = [tuple(each.get(column) for column in columns) for each in found]
        print_table([column.upper() for column in columns], rows)
