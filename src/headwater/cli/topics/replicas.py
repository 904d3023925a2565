"""`headwater topics reassign` and `elect-leaders`: where replicas are, and which of them leads."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.options.connection import connection_options
from headwater.cli.output import json_option, note, print_json, print_table
from headwater.cli.topics.replica_assignment import (
    Move,
    as_document,
    parse_replicas,
    read_moves,
    spread,
)
from headwater.clients.connection import REQUEST_WITHIN_S, Connection, check_topic_name
from headwater.clients.errors import describe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from headwater.clients.raw.admin import RawAdmin

_LOOK_EVERY_S = 0.25
_SAY_EVERY_S = 5.0
_TIMEOUT_MS = int(REQUEST_WITHIN_S * 1000)
_VERSION = 0


@click.command(
    epilog="""\b
Examples:
  headwater topics reassign orders --brokers 1,2,3
  headwater topics reassign orders --brokers 2,3 --replication-factor 2 --dry-run
  headwater topics reassign orders --replicas 0:2,3 --replicas 1:3,2
  headwater topics reassign --from-file moves.json --no-wait"""
)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--brokers", metavar="ID[,...]", help="Spread the partitions over these brokers.")
@click.option("-r", "--replication-factor", type=click.IntRange(1), help="Default: as it is.")
@click.option(
    "--replicas",
    metavar="PARTITION:ID[,...]",
    multiple=True,
    help="The replicas of one partition, the preferred leader first; may be given several times.",
)
@click.option(
    "--from-file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="All that in JSON, as Kafka's own tool takes it.",
)
@click.option("--dry-run", is_flag=True, help="Print the JSON of what would be done, and stop.")
@click.option("--no-wait", is_flag=True, help="Do not wait until the replicas have moved.")
@connection_options
def reassign(
    connection: Connection,
    names: tuple[str, ...],
    brokers: str | None,
    replication_factor: int | None,
    replicas: tuple[str, ...],
    from_file: Path | None,
    dry_run: bool,
    no_wait: bool,
) -> None:
    """Move partitions to other brokers, or give them more or fewer replicas.

    Clients go on working meanwhile. The preferred leader of a partition is its first replica.
    """
    from headwater.clients.raw.admin import RawAdmin

    if sum((brokers is not None, bool(replicas), from_file is not None)) != 1:
        raise click.UsageError("Say where to: one of --brokers, --replicas and --from-file.")
    if from_file is not None:
        moves = read_moves(from_file)
    elif replicas:
        if len(names) != 1:
            raise click.UsageError("--replicas is for one topic.")
        moves = [parse_replicas(check_topic_name(names[0]), text) for text in replicas]
    else:
        moves = _spread(connection, names, brokers or "", replication_factor)
    if dry_run:
        print_json(as_document(moves))
        return
    admin = RawAdmin(connection)
    _submit(admin, {(move.topic, move.partition): list(move.replicas) for move in moves})
    note(f"Moving {len(moves)} partitions.")
    if not no_wait:
        _wait(admin, moves)
        note("Done.")


@click.command(
    epilog="""\b
Examples:
  headwater topics reassignments
  headwater topics reassignments --json"""
)
@json_option
@connection_options
def reassignments(connection: Connection, as_json: bool) -> None:
    """List reassignments in progress: which brokers get a replica, and which lose one."""
    from headwater.clients.raw.admin import RawAdmin
    from headwater.clients.raw.reassignments import reassignments as under_way

    moving = [each._asdict() for each in under_way(RawAdmin(connection))]
    columns = ("topic", "partition", "replicas", "adding", "removing")
    if as_json:
        print_json(moving)
    else:
        print_table(
            [column.upper() for column in columns],
            [[each[column] for column in columns] for each in moving],
        )


@click.command(
    "cancel-reassignments",
    epilog="""\b
Examples:
  headwater topics cancel-reassignments orders""",
)
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@connection_options
def cancel_reassignments(connection: Connection, names: tuple[str, ...]) -> None:
    """Cancel reassignments in progress: the replicas stay where they were."""
    from headwater.clients.raw.admin import RawAdmin
    from headwater.clients.raw.reassignments import reassignments as under_way

    admin = RawAdmin(connection)
    moving = [each for each in under_way(admin) if each.topic in names]
    if moving:
        _submit(admin, {(each.topic, each.partition): None for each in moving})
    note(f"Cancelled {len(moving)} moves.")


@click.command(
    "elect-leaders",
    epilog="""\b
Examples:
  headwater topics elect-leaders
  headwater topics elect-leaders orders payments
  headwater topics elect-leaders orders --unclean""",
)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--unclean",
    is_flag=True,
    help="Give partitions without a leader to a replica that lags behind. Records are lost.",
)
@connection_options
def elect_leaders(connection: Connection, names: tuple[str, ...], unclean: bool) -> None:
    """Elect the preferred leaders: the first replica of each partition.

    Without a NAME this is done for all topics. One that has just come back is waited for.
    """
    from confluent_kafka import ElectionType, TopicPartition

    if unclean and not names:
        raise click.UsageError("--unclean loses records: name the topics.")
    topics = names or connection.topic_names()
    if not unclean:
        _wait_until_caught_up(connection, topics)
    partitions = [
        TopicPartition(topic.name, partition.id)
        for topic in connection.describe_topics(topics)
        for partition in topic.partitions
    ]
    kind = ElectionType.UNCLEAN if unclean else ElectionType.PREFERRED
    answers = connection.result(connection.admin.elect_leaders(kind, partitions))
    failures = []
    elected = 0
    for partition, failure in answers.items():
        if failure is None:
            elected += 1
        elif failure.name() != "ELECTION_NOT_NEEDED":
            failures.append(f"{partition.topic}-{partition.partition}: {describe(failure)}")
    note(f"Elected the leaders of {elected} partitions.")
    if failures:
        raise CommandError("\n".join(failures))


def _wait_until_caught_up(connection: Connection, topics: Sequence[str]) -> None:
    """Wait for preferred leaders that are there and not in sync yet; the cluster refuses others."""
    deadline = time.monotonic() + REQUEST_WITHIN_S
    while time.monotonic() < deadline:
        alive = {node.id for node in connection.result(connection.admin.describe_cluster()).nodes}
        if not any(
            preferred.id in alive and preferred.id not in {each.id for each in partition.isr}
            for topic in connection.describe_topics(topics)
            for partition in topic.partitions
            for preferred in partition.replicas[:1]
        ):
            return
        time.sleep(_LOOK_EVERY_S)


def _spread(
    connection: Connection, names: Sequence[str], brokers: str, replication_factor: int | None
) -> list[Move]:
    if not names:
        raise click.UsageError("Name the topics that --brokers should have.")
    if not all(each.isdigit() for each in brokers.split(",")):
        raise click.BadParameter(f"'{brokers}' is not of the form 1,2,3", param_hint="--brokers")
    chosen = [int(each) for each in brokers.split(",")]
    nodes = connection.result(connection.admin.describe_cluster()).nodes
    racks = {node.id: node.rack for node in nodes}
    if unknown := [each for each in chosen if each not in racks]:
        raise CommandError(
            f"there is no broker {', '.join(map(str, unknown))}; "
            f"there are {', '.join(map(str, sorted(racks)))}"
        )
    moves = []
    for topic in connection.describe_topics(names):
        count = replication_factor or max(len(each.replicas) for each in topic.partitions)
        if count > len(set(chosen)):
            raise CommandError(
                f"{topic.name} should have {count} replicas, and --brokers names {len(set(chosen))}"
            )
        own_racks = {each: racks[each] for each in chosen}
        moves += spread(topic.name, len(topic.partitions), own_racks, count)
    return moves


def _submit(admin: RawAdmin, wanted: Mapping[tuple[str, int], list[int] | None]) -> None:
    from headwater.clients.raw.admin import check, error_name
    from headwater.protocol.api_keys import ApiKey

    topics: dict[str, list[dict[str, Any]]] = {}
    for (topic, partition), replicas in wanted.items():
        entry = {"partition_index": partition, "replicas": replicas}
        topics.setdefault(topic, []).append(entry)
    answer = admin.ask_any(
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        _VERSION,
        {
            "timeout_ms": _TIMEOUT_MS,
            "topics": [{"name": name, "partitions": each} for name, each in topics.items()],
        },
    )
    check(answer.error_code, "reassigning")
    failures = [
        f"{topic.name}-{each.partition_index}: {each.error_message or ''} "
        f"({error_name(each.error_code)})"
        for topic in answer.responses
        for each in topic.partitions
        if each.error_code != 0
    ]
    if failures:
        raise CommandError("\n".join(failures))


def _wait(admin: RawAdmin, moves: Iterable[Move]) -> None:
    from headwater.clients.raw.reassignments import reassignments as under_way

    mine = {(move.topic, move.partition) for move in moves}
    said = time.monotonic()
    while left := mine & {(each.topic, each.partition) for each in under_way(admin)}:
        if time.monotonic() - said > _SAY_EVERY_S:
            note(f"{len(left)} of {len(mine)} partitions are still being reassigned.")
            said = time.monotonic()
        time.sleep(_LOOK_EVERY_S)
