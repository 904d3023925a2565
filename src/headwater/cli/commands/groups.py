"""`headwater groups`: list, describe and delete consumer groups, and move their offsets."""

from __future__ import annotations

import fnmatch
import sys
import time
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.groups.description import (
    Described,
    UnknownGroupError,
    all_groups,
    committed_offsets,
    describe_group,
    find_group,
    group_names,
    state_name,
)
from headwater.cli.groups.offset_reset import MAX_OFFSET, ago, parse_scope, read_plan
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.connection import connection_options
from headwater.cli.options.values import point_in_time
from headwater.cli.output import json_option, note, print_json, print_table
from headwater.clients.errors import describe
from headwater.clients.group_changes import delete_group, move_group
from headwater.clients.offset_plan import Place, Planned, Target, make_plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from headwater.clients.connection import Connection

_STATES = (
    "Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Assigning", "Reconciling",
    "Dead",
)  # fmt: skip


@click.group(cls=LazyGroup)
def groups() -> None:
    """List, describe and delete consumer groups, and reset their offsets."""


@groups.command(
    "list",
    epilog="""\b
Examples:
  headwater groups list
  headwater groups list 'billing-*' --long
  headwater groups list --state Empty
  headwater groups list --json | jq -r '.[].group'""",
)
@click.argument("pattern", required=False)
@click.option("-l", "--long", "details", is_flag=True, help="Types and states as well.")
@click.option(
    "-s", "--state", "states", type=click.Choice(_STATES, case_sensitive=False), multiple=True,
    help="Only groups in this state; may be given several times.",
)  # fmt: skip
@click.option(
    "--type", "kind", type=click.Choice(("Classic", "Consumer"), case_sensitive=False),
    help="Only groups of this protocol.",
)  # fmt: skip
@json_option
@connection_options
def list_groups(
    connection: Connection,
    pattern: str | None,
    details: bool,
    states: tuple[str, ...],
    kind: str | None,
    as_json: bool,
) -> None:
    """List groups, one name per line, or those that match PATTERN (* and ? stand for any)."""
    rows = sorted(
        (group.group_id, group.type.name.capitalize(), state_name(group.state))
        for group in all_groups(connection)
        if pattern is None or fnmatch.fnmatchcase(group.group_id, pattern)
    )
    wanted = {state.lower() for state in states}
    rows = [
        row
        for row in rows
        if (not wanted or row[2].lower() in wanted) and (kind is None or row[1] == kind)
    ]
    if as_json:
        print_json([dict(zip(("group", "type", "state"), row, strict=True)) for row in rows])
    elif details:
        print_table(("GROUP", "TYPE", "STATE"), rows)
    else:
        for row in rows:
            click.echo(row[0])


@groups.command(
    "describe",
    epilog="""\b
Examples:
  headwater groups describe billing
  headwater groups describe billing --members
  headwater groups describe --state
  headwater groups describe billing --json | jq '[.[].partitions[].lag] | add'""",
)
@click.argument("names", metavar="[GROUP]...", nargs=-1)
@click.option("--members", is_flag=True, help="Show the members and their assignments.")
@click.option("--state", is_flag=True, help="Show the state, the assignor and the coordinator.")
@json_option
@connection_options
def describe_command(
    connection: Connection, names: tuple[str, ...], members: bool, state: bool, as_json: bool
) -> None:
    """Show current offset, lag and consumer of each partition.

    Without a GROUP all groups are described.
    """
    if members and state:
        raise click.UsageError("Give --members or --state, not both.")
    described = [describe_group(connection, name) for name in names or group_names(connection)]
    if as_json:
        print_json(described)
    elif members:
        _print_members(described)
    elif state:
        _print_states(described)
    else:
        _print_offsets(described)


@groups.command(
    epilog="""\b
Examples:
  headwater groups delete billing
  headwater groups delete billing reports --yes"""
)
@click.argument("names", metavar="GROUP...", nargs=-1, required=True)
@click.option("-y", "--yes", is_flag=True, help="Do not ask, also on a terminal.")
@connection_options
def delete(connection: Connection, names: tuple[str, ...], yes: bool) -> None:
    """Delete groups that have no members, with their offsets. Asks first on a terminal."""
    from confluent_kafka import KafkaException

    if not yes and sys.stdin.isatty() and sys.stderr.isatty():
        click.confirm(f"Delete {', '.join(names)} with all offsets?", abort=True, err=True)
    failures: list[str] = []
    for name in names:
        try:
            delete_group(connection, name)
        except KafkaException as failure:
            error = failure.args[0]
            if error.name() == "GROUP_ID_NOT_FOUND":
                failures.append(UnknownGroupError(name, group_names(connection)).message)
            elif error.name() == "NON_EMPTY_GROUP":
                failures.append(f"{name}: it still has members. Stop its consumers first")
            else:
                failures.append(f"{name}: {describe(error)}")
        else:
            note(f"Deleted {name}.")
    if failures:
        raise CommandError("\n".join(failures))


@groups.command(
    "reset-offsets",
    epilog="""\b
Examples:
  headwater groups reset-offsets billing --topic orders:3 --shift-by 1 --execute
  headwater groups reset-offsets billing --all-topics --to-earliest
  headwater groups reset-offsets billing --topic orders --to-datetime 2026-05-01T10:00:00Z
  headwater groups reset-offsets billing --all-topics --by-duration 2h --execute
  headwater groups reset-offsets billing --all-topics --to-current --export > plan.csv
  headwater groups reset-offsets billing --from-file plan.csv --execute

The first one skips a record that a consumer cannot process.""",
)
@click.argument("group")
@click.option(
    "-t", "--topic", "topics", metavar="TOPIC[:0,1,2]", multiple=True,
    help="A topic, or some of its partitions; may be given several times.",
)  # fmt: skip
@click.option("--all-topics", is_flag=True, help="All topics that the group has offsets of.")
@click.option(
    "--to-earliest", is_flag=True, help="To the beginning: the first record that is there."
)
@click.option("--to-latest", is_flag=True, help="To the end: the next record that is produced.")
@click.option("--to-current", is_flag=True, help="Where it is; with --export, a backup.")
@click.option("--to-offset", type=click.IntRange(0, MAX_OFFSET), help="To this offset.")
@click.option("--shift-by", type=int, metavar="N", help="N records on, or back if negative.")
@click.option(
    "--to-datetime", type=point_in_time, metavar="TIME", help="To the first record since."
)
@click.option(
    "--by-duration", type=ago, metavar="TIME", help="To the first record since so long ago."
)
@click.option(
    "--from-file", metavar="FILE", type=click.Path(exists=True, dir_okay=False),
    help="To what a CSV file says: topic,partition,offset.",
)  # fmt: skip
@click.option("--execute", is_flag=True, help="Do it; otherwise it is only shown.")
@click.option("--export", "as_csv", is_flag=True, help="Print CSV, as --from-file reads it.")
@json_option
@connection_options
def reset_offsets(
    connection: Connection,
    group: str,
    topics: tuple[str, ...],
    all_topics: bool,
    execute: bool,
    as_csv: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Reset the offsets of a group. Shows what it would do, and does it with --execute.

    The group must be inactive: it may have no members meanwhile.
    """
    target = Target(**options)
    _check_usage(target, topics, all_topics)
    given = {} if target.from_file is None else read_plan(target.from_file, group)
    _check_inactive(connection, group)
    current = committed_offsets(connection, group)
    places = _places(connection, group, topics, current, given, all_topics=all_topics)
    plan = make_plan(connection, places, current, target, given, int(time.time() * 1000))
    _say_bounds(plan)
    if execute:
        move_group(connection, group, plan)
    _print_plan(group, plan, as_csv=as_csv, as_json=as_json)
    if not execute:
        note("Nothing was changed. Add --execute to do it.")


def _check_usage(target: Target, topics: Sequence[str], all_topics: bool) -> None:
    if len(target.given) != 1:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in Target._fields)
        many = (
            f"{' and '.join(target.given)} exclude each other" if target.given else "Say where to"
        )
        raise click.UsageError(f"{many}: give one of {options}.")
    if target.from_file is not None:
        if topics or all_topics:
            raise click.UsageError("The topics come from the file; leave out the other options.")
    elif bool(topics) == all_topics:
        raise click.UsageError("Give either --topic (several times if need be) or --all-topics.")


def _check_inactive(connection: Connection, group: str) -> None:
    found = find_group(connection, group)
    if found is not None and found.state.name != "EMPTY":
        raise CommandError(
            f"the group '{group}' is {state_name(found.state)}: its members would go on where they "
            "are. Stop its consumers first"
        )


def _places(
    connection: Connection,
    group: str,
    topics: Sequence[str],
    current: Mapping[Place, int],
    given: Mapping[Place, int],
    *,
    all_topics: bool,
) -> list[Place]:
    if all_topics:
        if not current:
            if find_group(connection, group) is None:
                raise UnknownGroupError(group, group_names(connection))
            raise CommandError(f"the group '{group}' has no offsets. Name topics with --topic")
        known = set(connection.topic_names())
        return [place for place in current if place[0] in known]
    scope = parse_scope(topics) if topics else {topic: None for topic, _ in given}
    described = connection.describe_topics(list(scope))
    existing = {(topic.name, one.id) for topic in described for one in topic.partitions}
    wanted = set(given)
    for topic, numbers in scope.items() if topics else ():
        all_of_it = [place for place in existing if place[0] == topic]
        wanted.update(all_of_it if numbers is None else ((topic, number) for number in numbers))
    missing = sorted(wanted - existing)
    if missing:
        names = ", ".join(f"{topic}-{number}" for topic, number in missing)
        raise CommandError(f"there is no partition {names}")
    return sorted(wanted)


def _say_bounds(plan: Sequence[Planned]) -> None:
    for one in plan:
        if one.new != one.asked:
            side = "starts" if one.asked < one.new else "ends"
            place = f"{one.topic}-{one.partition}"
            note(f"{place} {side} at {one.new}, which is taken instead of {one.asked}.")


def _print_plan(group: str, plan: Sequence[Planned], *, as_csv: bool, as_json: bool) -> None:
    if as_csv:
        for one in plan:
            click.echo(f"{group},{one.topic},{one.partition},{one.new}")
    elif as_json:
        print_json(
            [
                {
                    "group": group,
                    "topic": one.topic,
                    "partition": one.partition,
                    "current_offset": one.current,
                    "new_offset": one.new,
                }
                for one in plan
            ]
        )
    else:
        columns = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "NEW-OFFSET")
        print_table(columns, [(group, *one[:4]) for one in plan])


def _print_offsets(described: Sequence[Described]) -> None:
    columns = (
        *("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG"),
        *("CONSUMER-ID", "HOST", "CLIENT-ID"),
    )
    for group in described:
        if not group["members"]:
            note(f"The group '{group['group']}' has no active members.")
    rows = [
        (group["group"], *partition.values())
        for group in described
        for partition in group["partitions"]
    ]
    print_table(columns, rows)


def _print_members(described: Sequence[Described]) -> None:
    columns = (
        *("GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS"),
        "ASSIGNMENT",
    )
    rows = []
    for group in described:
        for member in group["members"]:
            held = " ".join(
                f"{topic}({','.join(map(str, numbers))})"
                for topic, numbers in member["assignment"].items()
            )
            *facts, _ = member.values()
            rows.append((group["group"], *facts, held or None))
    print_table(columns, rows)


def _print_states(described: Sequence[Described]) -> None:
    columns = ("GROUP", "COORDINATOR", "TYPE", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS")
    rows = [
        (
            group["group"],
            group["coordinator"],
            group["type"],
            group["assignor"] or None,
            group["state"],
            len(group["members"]),
        )
        for group in described
    ]
    print_table(columns, rows)
