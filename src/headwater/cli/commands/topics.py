"""`headwater topics`: create, list, describe, alter and delete topics."""

from __future__ import annotations

import fnmatch
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.connection import connection_options
from headwater.cli.options.values import parse_assignments
from headwater.cli.output import json_option, note, print_json, print_table
from headwater.cli.topics.config_changes import ConfigChange, apply_changes
from headwater.cli.topics.description import describe_topics, print_topics
from headwater.cli.topics.replicas import (
    cancel_reassignments,
    elect_leaders,
    reassign,
    reassignments,
)
from headwater.cli.topics.without_effect import note_without_effect
from headwater.clients.connection import (
    POLL_S,
    REQUEST_WITHIN_S,
    Connection,
    call,
    check_topic_name,
)
from headwater.clients.errors import UnknownTopicError, describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from concurrent.futures import Future


@click.group(cls=LazyGroup)
def topics() -> None:
    """Create, list, describe, change and delete topics."""


@topics.command(
    epilog="""\b
Examples:
  headwater topics create orders
  headwater topics create orders payments --partitions 6
  headwater topics create users --config cleanup.policy=compact --config segment.ms=60000
  headwater topics create orders --if-not-exists"""
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("-p", "--partitions", type=click.IntRange(1), help="Default: the broker's.")
@click.option("-r", "--replication-factor", type=click.IntRange(1), help="Default: the broker's.")
@click.option("-c", "--config", "configs", metavar="NAME=VALUE", multiple=True, help="A setting.")
@click.option("--if-not-exists", is_flag=True, help="A topic that is there already is fine.")
@click.option("--dry-run", is_flag=True, help="Let the broker check it, and create nothing.")
@connection_options
def create(
    connection: Connection,
    names: tuple[str, ...],
    partitions: int | None,
    replication_factor: int | None,
    configs: tuple[str, ...],
    if_not_exists: bool,
    dry_run: bool,
) -> None:
    """Create topics."""
    from confluent_kafka.admin import NewTopic

    settings = parse_assignments(configs, "--config")
    wanted = [
        NewTopic(
            check_topic_name(name),
            num_partitions=partitions or -1,
            replication_factor=replication_factor or -1,
            config=settings,
        )
        for name in names
    ]
    answers = connection.admin.create_topics(wanted, validate_only=dry_run)
    _report(
        connection,
        answers,
        done="Would create" if dry_run else "Created",
        fine="TOPIC_ALREADY_EXISTS" if if_not_exists else None,
    )
    if not dry_run:
        _wait_until_known(connection, names)
    note_without_effect(connection, "topic", settings)


@topics.command(
    "list",
    epilog="""\b
Examples:
  headwater topics list
  headwater topics list 'sensor-*' --long
  headwater topics list --json | jq -r '.[].name'""",
)
@click.argument("pattern", required=False)
@click.option("-l", "--long", "details", is_flag=True, help="Partitions and replication as well.")
@click.option(
    "--exclude-internal", is_flag=True, help="Leave out topics such as __consumer_offsets."
)
@json_option
@connection_options
def list_topics(
    connection: Connection,
    pattern: str | None,
    details: bool,
    exclude_internal: bool,
    as_json: bool,
) -> None:
    """List topics, one name per line, or those that match PATTERN (* and ? stand for any)."""
    metadata = call(lambda: connection.admin.list_topics(timeout=REQUEST_WITHIN_S))
    rows = [
        (name, len(topic.partitions), _replication_factor(topic), name.startswith("__"))
        for name, topic in sorted(metadata.topics.items())
        if pattern is None or fnmatch.fnmatchcase(name, pattern)
    ]
    if exclude_internal:
        rows = [row for row in rows if not row[3]]
    columns = ("name", "partitions", "replication_factor", "internal")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif details:
        print_table(("TOPIC", "PARTITIONS", "REPLICATION", "INTERNAL"), rows)
    else:
        for row in rows:
            click.echo(row[0])


@topics.command(
    "describe",
    epilog="""\b
Examples:
  headwater topics describe orders
  headwater topics describe orders --offsets
  headwater topics describe --under-replicated
  headwater topics describe orders --json | jq '.[0].partitions[].leader'""",
)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--offsets", is_flag=True, help="Show where each partition starts and ends.")
@click.option(
    "--under-replicated", is_flag=True, help="Only partitions with a replica that is not in sync."
)
@click.option("--unavailable", is_flag=True, help="Only partitions without a leader.")
@json_option
@connection_options
def describe_command(
    connection: Connection,
    names: tuple[str, ...],
    offsets: bool,
    under_replicated: bool,
    unavailable: bool,
    as_json: bool,
) -> None:
    """Show a topic's id, the settings that somebody has given, and its partitions.

    Settings are the topic's own and those that brokers were given for all topics. Without a NAME
    all topics are described.
    """
    described = describe_topics(connection, names or connection.topic_names(), offsets=offsets)
    if under_replicated or unavailable:
        for topic in described:
            topic["partitions"] = [
                partition
                for partition in topic["partitions"]
                if (under_replicated and len(partition["isr"]) < len(partition["replicas"]))
                or (unavailable and partition["leader"] is None)
            ]
        described = [topic for topic in described if topic["partitions"]]
    if as_json:
        print_json(described)
    else:
        print_topics(described, offsets=offsets)


@topics.command(
    epilog="""\b
Examples:
  headwater topics alter orders --partitions 12
  headwater topics alter orders --config retention.ms=86400000
  headwater topics alter orders --delete-config retention.ms"""
)
@click.argument("name")
@click.option("-p", "--partitions", type=click.IntRange(1), help="The new, larger number.")
@click.option("-c", "--config", "configs", metavar="NAME=VALUE", multiple=True, help="Set it.")
@click.option("--delete-config", "deleted", metavar="NAME", multiple=True, help="Back to default.")
@connection_options
def alter(
    connection: Connection,
    name: str,
    partitions: int | None,
    configs: tuple[str, ...],
    deleted: tuple[str, ...],
) -> None:
    """Add partitions to a topic, or change its settings."""
    from confluent_kafka.admin import NewPartitions

    settings = parse_assignments(configs, "--config")
    changes = [ConfigChange("SET", *item) for item in settings.items()]
    changes += [ConfigChange("DELETE", setting) for setting in deleted]
    if partitions is None and not changes:
        raise click.UsageError("Say what to change: --partitions, --config or --delete-config.")
    connection.describe_topic(name)
    if changes:
        apply_changes(connection, "topic", name, changes)
        note(f"Changed the settings of {name}.")
        note_without_effect(connection, "topic", settings)
    if partitions is not None:
        answers = connection.admin.create_partitions([NewPartitions(name, partitions)])
        _report(connection, answers, done=f"Partitions are now {partitions} in")


@topics.command(
    epilog="""\b
Examples:
  headwater topics delete orders
  headwater topics delete orders payments --yes
  headwater topics delete orders --if-exists"""
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--if-exists", is_flag=True, help="A topic that is not there is fine.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask, also on a terminal.")
@connection_options
def delete(connection: Connection, names: tuple[str, ...], if_exists: bool, yes: bool) -> None:
    """Delete topics and all their records. Asks first when run on a terminal."""
    for name in names:
        check_topic_name(name)
    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm(f"Delete {', '.join(names)} with all records?", abort=True, err=True)
    answers = connection.admin.delete_topics(list(names))
    _report(
        connection, answers, done="Deleted", fine="UNKNOWN_TOPIC_OR_PART" if if_exists else None
    )


for _command in (reassign, reassignments, cancel_reassignments, elect_leaders):
    topics.add_command(_command)


def _report(
    connection: Connection,
    answers: Mapping[str, Future[None]],
    *,
    done: str,
    fine: str | None = None,
) -> None:
    from confluent_kafka import KafkaException

    failures: list[str] = []
    for name, future in answers.items():
        try:
            connection.result(future)
        except KafkaException as failure:
            error = failure.args[0]
            if error.name() == fine:
                note(f"{name}: {describe(error)}; nothing to do.")
            elif error.name() == "UNKNOWN_TOPIC_OR_PART":
                failures.append(str(UnknownTopicError(name, connection.topic_names())))
            else:
                failures.append(f"{name}: {describe(error)}")
        else:
            note(f"{done} {name}.")
    if failures:
        raise CommandError("\n".join(failures))


def _wait_until_known(connection: Connection, names: Iterable[str]) -> None:
    """Wait until brokers know what the controller has created, so that the next command can use it.

    Apache Kafka's brokers hear of it a moment later.
    """
    from confluent_kafka import KafkaException

    deadline = time.monotonic() + REQUEST_WITHIN_S
    for name in names:
        try:
            while connection.find_topic(name) is None and time.monotonic() < deadline:
                time.sleep(POLL_S)
        except KafkaException:
            return  # one may create what one may not see


def _replication_factor(topic: Any) -> int:
    return max((len(partition.replicas) for partition in topic.partitions.values()), default=0)
