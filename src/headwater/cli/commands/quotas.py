"""`headwater quotas`: show and change what clients may use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.connection import connection_options
from headwater.cli.options.values import parse_assignments
from headwater.cli.output import json_option, note, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.clients.connection import Connection
    from headwater.clients.raw.quotas import Entity

_TYPES = ("user", "client-id", "ip")
_DEFAULT = "<default>"


@click.group(cls=LazyGroup)
def quotas() -> None:
    """Show and change how much users, client ids and addresses may use."""


def entity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say whom a quota is for, under the names of Kafka's own tool."""
    for kind, singular, plural in (
        ("ip", "address", "addresses"), ("client", "client id", "client ids"),
        ("user", "user", "users"),
    ):  # fmt: skip
        command = click.option(
            f"--{kind}-defaults",
            is_flag=True,
            help=f"Quotas of all {plural} that have none of their own.",
        )(command)
        command = click.option(f"--{kind}", metavar="NAME", help=f"Quotas of this {singular}.")(
            command
        )
    return command


@quotas.command(
    "list",
    epilog="""\b
Examples:
  headwater quotas list
  headwater quotas list --client etl
  headwater quotas list --user-defaults
  headwater quotas list --json""",
)
@entity_options
@json_option
@connection_options
def list_command(connection: Connection, as_json: bool, **whom: Any) -> None:
    """List all quotas, or those of some entities."""
    from headwater.clients.raw.admin import RawAdmin
    from headwater.clients.raw.quotas import list_quotas

    found = list_quotas(RawAdmin(connection), _entity(whom))
    if as_json:
        print_json([{"entity": each, "quota": key, "value": value} for each, key, value in found])
        return
    print_table(
        ("USER", "CLIENT-ID", "IP", "QUOTA", "VALUE"),
        [
            (
                *(_shown(entity, kind) for kind in _TYPES),
                key,
                int(value) if value % 1 == 0 else value,
            )
            for entity, key, value in found
        ],
    )


@quotas.command(
    epilog="""\b
Examples:
  headwater quotas alter --client etl --add producer_byte_rate=1048576
  headwater quotas alter --client etl --add consumer_byte_rate=2097152 --delete producer_byte_rate
  headwater quotas alter --user-defaults --client-defaults --add request_percentage=25
  headwater quotas alter --ip 10.0.0.7 --add connection_creation_rate=10

\b
Quotas of users and client ids:
  producer_byte_rate        bytes a second that they may write
  consumer_byte_rate        bytes a second that they may read
  request_percentage        percent of the broker's time that their requests may take
  controller_mutation_rate  partitions a second that they may create and delete
Quotas of addresses:
  connection_creation_rate  connections a second that they may open"""
)
@entity_options
@click.option("--add", metavar="NAME=VALUE", multiple=True, help="Set it.")
@click.option("--delete", metavar="NAME", multiple=True, help="Limit it no longer.")
@click.option("--dry-run", is_flag=True, help="Let the broker check it, and change nothing.")
@connection_options
def alter(
    connection: Connection,
    add: tuple[str, ...],
    delete: tuple[str, ...],
    dry_run: bool,
    **whom: Any,
) -> None:
    """Change the quotas of a user, a client id, both together, or an address."""
    from headwater.clients.raw.admin import RawAdmin
    from headwater.clients.raw.quotas import alter_quotas

    entity = _entity(whom)
    if not entity:
        raise click.UsageError("Say whose quotas: --user, --client or --ip, or their defaults.")
    changes: dict[str, float | None] = {
        key: _number(key, text) for key, text in parse_assignments(add, "--add").items()
    }
    changes |= dict.fromkeys(delete)
    if not changes:
        raise click.UsageError("Say what to change: --add or --delete.")
    alter_quotas(RawAdmin(connection), entity, changes, validate_only=dry_run)
    whose = " and ".join(f"{kind} {_DEFAULT if n is None else n}" for kind, n in entity.items())
    note(f"{'Would change' if dry_run else 'Changed'} the quotas of {whose}.")


def _entity(whom: Mapping[str, Any]) -> Entity:
    entity: Entity = {}
    for kind in _TYPES:
        option = kind.removesuffix("-id")
        name, is_default = whom[option], whom[f"{option}_defaults"]
        if name is not None and is_default:
            raise click.UsageError(f"Give either --{option} or --{option}-defaults, not both.")
        if name is not None or is_default:
            entity[kind] = name
    return entity


def _shown(entity: Entity, kind: str) -> str | None:
    return (entity[kind] or _DEFAULT) if kind in entity else None


def _number(key: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a number", param_hint=f"--add {key}") from None
