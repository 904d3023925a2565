"""`headwater configs`: show and change the settings of topics and brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.connection import connection_options
from headwater.cli.options.values import parse_assignments
from headwater.cli.output import json_option, note, print_json, print_table
from headwater.cli.topics.config_changes import (
    ConfigChange,
    EntityType,
    apply_changes,
    configs_of,
)
from headwater.cli.topics.without_effect import note_without_effect, without_effect

if TYPE_CHECKING:
    from collections.abc import Callable

    from confluent_kafka.admin import ConfigEntry

    from headwater.clients.connection import Connection


@click.group(cls=LazyGroup)
def configs() -> None:
    """Show and change the settings of topics and brokers."""


def entity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --topic and --broker, of which a command needs exactly one."""
    command = click.option("--broker", metavar="ID", type=int, help="A broker's settings.")(command)
    return click.option("--topic", metavar="NAME", help="A topic's settings.")(command)


@configs.command(
    "describe",
    epilog="""\b
Examples:
  headwater configs describe --topic orders
  headwater configs describe --topic orders --all
  headwater configs describe --broker 1 --all
  headwater configs describe --topic orders retention.ms
  headwater configs describe --topic orders --all --json | jq -r '."retention.ms".value'""",
)
@click.argument("names", metavar="[SETTING]...", nargs=-1)
@entity_options
@click.option(
    "-a", "--all", "everything", is_flag=True, help="Settings left at their default, too."
)
@json_option
@connection_options
def describe_command(
    connection: Connection,
    names: tuple[str, ...],
    topic: str | None,
    broker: int | None,
    everything: bool,
    as_json: bool,
) -> None:
    """Show settings with their sources, by default only those that somebody has set.

    SOURCE says where a value comes from; a value nobody has set is marked "default". NOTE marks
    what Headwater's broker takes and, being a single node, has no use for.
    """
    entity_type, entity = _entity(connection, topic, broker)
    found = configs_of(connection, entity_type, [entity])[entity]
    missing = [name for name in names if name not in found]
    if missing:
        raise CommandError(f"{entity_type} {entity} has no setting '{missing[0]}'. Try --all")
    chosen = {
        name: entry
        for name, entry in sorted(found.items())
        if (name in names if names else everything or not _is_default(entry))
    }
    idle = without_effect(connection, entity_type, chosen)
    if as_json:
        print_json(
            {name: _as_json(entry, has_effect=name not in idle) for name, entry in chosen.items()}
        )
        return
    columns = ["SETTING", "VALUE", "SOURCE", "READ-ONLY"]
    rows: list[tuple[object, ...]] = [
        (name, _value(entry), _source(entry), entry.is_read_only) for name, entry in chosen.items()
    ]
    if idle:
        columns.append("NOTE")
        rows = [(*row, "no effect here" if row[0] in idle else "") for row in rows]
    print_table(columns, rows)


@configs.command(
    epilog="""\b
Examples:
  headwater configs alter --topic orders --add retention.ms=86400000
  headwater configs alter --topic orders --add cleanup.policy=compact,delete --delete retention.ms
  headwater configs alter --topic orders --append cleanup.policy=compact
  headwater configs alter --broker 1 --add log.retention.ms=86400000"""
)
@entity_options
@click.option("--add", metavar="NAME=VALUE", multiple=True, help="Set it.")
@click.option("--delete", metavar="NAME", multiple=True, help="Back to its default.")
@click.option("--append", metavar="NAME=VALUE", multiple=True, help="Add to a list.")
@click.option("--subtract", metavar="NAME=VALUE", multiple=True, help="Take out of a list.")
@click.option("--dry-run", is_flag=True, help="Let the broker check it, and change nothing.")
@connection_options
def alter(
    connection: Connection,
    topic: str | None,
    broker: int | None,
    add: tuple[str, ...],
    delete: tuple[str, ...],
    append: tuple[str, ...],
    subtract: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Change settings: all the changes of one command are made, or none."""
    changes = [ConfigChange("SET", *item) for item in parse_assignments(add, "--add").items()]
    changes += [ConfigChange("DELETE", name) for name in delete]
    changes += [ConfigChange("APPEND", *i) for i in parse_assignments(append, "--append").items()]
    changes += [
        ConfigChange("SUBTRACT", *item)
        for item in parse_assignments(subtract, "--subtract").items()
    ]
    if not changes:
        raise click.UsageError("Say what to change: --add, --delete, --append or --subtract.")
    entity_type, entity = _entity(connection, topic, broker)
    apply_changes(connection, entity_type, entity, changes, dry_run=dry_run)
    done = "Would change" if dry_run else "Changed"
    note(f"{done} the settings of {entity_type} {entity}.")
    given = [change.name for change in changes if change.operation != "DELETE"]
    note_without_effect(connection, entity_type, given)


def _entity(
    connection: Connection, topic: str | None, broker: int | None
) -> tuple[EntityType, str]:
    if (topic is None) == (broker is None):
        raise click.UsageError("Say whose settings: either --topic NAME or --broker ID.")
    if topic is not None:
        connection.describe_topic(topic)
        return "topic", topic
    # Asked for a broker that is not there, librdkafka would wait until the request times out.
    brokers = [node.id for node in connection.result(connection.admin.describe_cluster()).nodes]
    if broker not in brokers:
        known = ", ".join(str(each) for each in sorted(brokers))
        raise CommandError(f"there is no broker {broker}; the brokers are: {known}")
    return "broker", str(broker)


def _is_default(entry: ConfigEntry) -> bool:
    from confluent_kafka.admin import ConfigSource

    # What a broker's file says is, for a topic, a default that nobody has overridden.
    own = (
        ConfigSource.DYNAMIC_TOPIC_CONFIG.value,
        ConfigSource.DYNAMIC_BROKER_CONFIG.value,
        ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG.value,
    )
    return entry.source not in own


def _source(entry: ConfigEntry) -> str:
    from confluent_kafka.admin import ConfigSource

    name = str(ConfigSource(entry.source).name)
    return "default" if name == "DEFAULT_CONFIG" else name


def _value(entry: ConfigEntry) -> str | None:
    return "(hidden)" if entry.is_sensitive else entry.value


def _as_json(entry: ConfigEntry, *, has_effect: bool) -> dict[str, object]:
    return {
        "value": None if entry.is_sensitive else entry.value,
        "source": _source(entry),
        "default": _source(entry) == "default",
        "read_only": entry.is_read_only,
        "sensitive": entry.is_sensitive,
        "has_effect": has_effect,
        "synonyms": [
            {"name": synonym.name, "value": synonym.value, "source": _source(synonym)}
            for synonym in (entry.synonyms or {}).values()
        ],
    }
