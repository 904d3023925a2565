"""`headwater acls`: give rights, take them away, and list them, as kafka-acls does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from headwater.cli.errors import CommandError
from headwater.cli.lazy_group import LazyGroup
from headwater.cli.options.acls import (
    ResourceFilter,
    Rule,
    pattern_of,
    resource_options,
    resources_of,
    rule_of,
    rule_options,
    rules_of,
)
from headwater.cli.options.connection import connection_options
from headwater.cli.output import json_option, note, print_json, print_table
from headwater.protocol.acls import PatternType, ResourceType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from headwater.clients.connection import Connection

_VERSION = 2
_COLUMNS = ("RESOURCE", "NAME", "PATTERN", "PRINCIPAL", "HOST", "OPERATION", "PERMISSION")


@click.group(cls=LazyGroup)
def acls() -> None:
    """Say who may do what: add, remove and list ACLs.

    The broker decides by them if authorizer.class.name is set; see docs/acls.md.
    """


@acls.command(
    epilog="""\b
Examples:
  headwater acls add --allow-principal User:ann --producer --topic orders
  headwater acls add --allow-principal User:ann --producer --topic orders --transactional-id etl
  headwater acls add --allow-principal User:bob --consumer --topic orders --group billing
  headwater acls add --allow-principal User:bob --operation Read --topic orders- \\
      --resource-pattern-type prefixed
  headwater acls add --deny-principal User:eve --deny-host 10.0.0.7 --operation All --topic '*'
  headwater acls add --allow-principal User:ops --operation Alter --cluster""",
)
@rule_options
@resource_options(("literal", "prefixed"), "literal")
@connection_options
def add(connection: Connection, **given: Any) -> None:
    """Create ACLs; those that are there already stay."""
    rules = rules_of(given)
    if not rules:
        raise click.UsageError("Say who: --allow-principal or --deny-principal.")
    for future in connection.admin.create_acls([rule.binding() for rule in rules]).values():
        connection.result(future)
    _print(rules)
    note(f"Added {_count(len(rules))}.")


@acls.command(
    epilog="""\b
Examples:
  headwater acls remove --allow-principal User:ann --producer --topic orders
  headwater acls remove --deny-principal User:eve --operation Read --topic orders
  headwater acls remove --topic orders --yes
  headwater acls remove --topic orders- --resource-pattern-type prefixed --yes

Without a principal, all ACLs of the resources are removed.""",
)
@rule_options
@resource_options(("literal", "prefixed", "match", "any"), "literal")
@click.option("-y", "--yes", is_flag=True, help="Do not ask, also on a terminal.")
@connection_options
def remove(connection: Connection, yes: bool, **given: Any) -> None:
    """Delete ACLs, those that are described or all of some resources."""
    picked: Sequence[Rule | ResourceFilter] = rules_of(given)
    if not picked:
        pattern = pattern_of(given)
        picked = [
            ResourceFilter(kind, name, _pattern(kind, pattern))
            for kind, name in resources_of(given)
        ]
        names = ", ".join(f"{each.resource_type.name.lower()} {each.name}" for each in picked)
        if not yes and sys.stdin.isatty() and sys.stderr.isatty():
            click.confirm(f"Remove all ACLs of {names}?", abort=True, err=True)
    answers = connection.admin.delete_acls([each.filter() for each in picked])
    gone = {
        rule_of(
            acl.restype_int, acl.name, acl.resource_pattern_type_int, acl.principal, acl.host,
            acl.operation_int, acl.permission_type_int,
        )
        for future in answers.values()
        for acl in connection.result(future)
    }  # fmt: skip
    _print(gone)
    note(f"Removed {_count(len(gone))}.")


@acls.command(
    "list",
    epilog="""\b
Examples:
  headwater acls list
  headwater acls list --topic orders --resource-pattern-type match
  headwater acls list --principal User:ann
  headwater acls list --group billing --json""",
)
@resource_options(("any", "match", "literal", "prefixed"), "any")
@click.option(
    "--principal", "principals", metavar="User:NAME", multiple=True, help="ACLs of these alone."
)
@json_option
@connection_options
def list_command(
    connection: Connection, principals: tuple[str, ...], as_json: bool, **given: Any
) -> None:
    """List all ACLs, or those of some resources or principals."""
    pattern = pattern_of(given)
    resources: list[tuple[ResourceType, str | None]] = [*resources_of(given)]
    found = {
        rule
        for kind, name in resources or [(ResourceType.ANY, None)]
        for principal in principals or (None,)
        for rule in _find(
            connection, ResourceFilter(kind, name, _pattern(kind, pattern), principal)
        )
    }
    if as_json:
        names = [column.lower() for column in _COLUMNS]
        print_json([dict(zip(names, row, strict=True)) for row in _rows(found)])
    else:
        _print(found)


def _find(connection: Connection, picks: ResourceFilter) -> Iterator[Rule]:
    """Ask without confluent-kafka, which takes a refusal for an empty answer."""
    from headwater.clients.raw.admin import RawAdmin, error_name
    from headwater.protocol.api_keys import ApiKey

    answer = RawAdmin(connection).ask_any(ApiKey.DESCRIBE_ACLS, _VERSION, picks.request())
    if answer.error_code:
        raise CommandError(answer.error_message or error_name(answer.error_code))
    for resource in answer.resources:
        for acl in resource.acls:
            yield rule_of(
                resource.resource_type, resource.resource_name, resource.pattern_type,
                acl.principal, acl.host, acl.operation, acl.permission_type,
            )  # fmt: skip


def _pattern(kind: ResourceType, pattern: PatternType) -> PatternType:
    """Return how a name is meant: that of the cluster has no parts."""
    return PatternType.LITERAL if kind is ResourceType.CLUSTER else pattern


def _print(rules: Iterable[Rule]) -> None:
    print_table(_COLUMNS, _rows(rules))


def _rows(rules: Iterable[Rule]) -> list[tuple[str, ...]]:
    return sorted(rule.row() for rule in rules)


def _count(number: int) -> str:
    return "1 ACL" if number == 1 else f"{number} ACLs"
