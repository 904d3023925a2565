"""From the options of kafka-acls to ACLs and filters: resources, principals, and what they may."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from confluent_kafka.admin import AclBinding, AclBindingFilter

_Number = TypeVar("_Number", bound=IntEnum)

CLUSTER_NAME = "kafka-cluster"
ANY_HOST = "*"

_OPERATIONS = {
    ResourceType.TOPIC: (
        "Read", "Write", "Create", "Describe", "Delete", "Alter", "DescribeConfigs",
        "AlterConfigs", "All",
    ),
    ResourceType.GROUP: (
        "Read", "Describe", "Delete", "DescribeConfigs", "AlterConfigs", "All",
    ),
    ResourceType.CLUSTER: (
        "Create", "ClusterAction", "DescribeConfigs", "AlterConfigs", "IdempotentWrite", "Alter",
        "Describe", "All",
    ),
    ResourceType.TRANSACTIONAL_ID: ("Describe", "Write", "All"),
}  # fmt: skip
"""What there is to do to each, under the names of kafka-acls."""
_ALL_OPERATIONS = sorted({name for names in _OPERATIONS.values() for name in names})
_FOR_PRODUCER = {
    ResourceType.TOPIC: ("Write", "Describe", "Create"),
    ResourceType.TRANSACTIONAL_ID: ("Write", "Describe"),
}
_FOR_CONSUMER = {ResourceType.TOPIC: ("Read", "Describe"), ResourceType.GROUP: ("Read",)}


class Rule(NamedTuple):
    """One ACL, with Kafka's numbers."""

    resource_type: ResourceType
    name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: AclOperation
    permission: PermissionType

    def binding(self) -> AclBinding:
        """Return it as confluent-kafka has it."""
        from confluent_kafka.admin import AclBinding

        return AclBinding(*_fields(self))

    def filter(self) -> AclBindingFilter:
        """Return what picks exactly this one."""
        from confluent_kafka.admin import AclBindingFilter

        return AclBindingFilter(*_fields(self))

    def row(self) -> tuple[str, ...]:
        """Return it in the words of kafka-acls."""
        return (
            self.resource_type.name,
            self.name,
            self.pattern_type.name,
            self.principal,
            self.host,
            spoken(self.operation.name),
            spoken(self.permission.name),
        )


class ResourceFilter(NamedTuple):
    """All ACLs of a resource, or of all, that somebody has, or anybody."""

    resource_type: ResourceType
    name: str | None
    pattern_type: PatternType
    principal: str | None = None

    def filter(self) -> AclBindingFilter:
        """Return it as confluent-kafka has it."""
        from confluent_kafka.admin import AclBindingFilter

        anything = (None, AclOperation.ANY, PermissionType.ANY)
        return AclBindingFilter(*_fields((*self, *anything)))

    def request(self) -> dict[str, Any]:
        """Return it as the body of a DescribeAcls request."""
        return {
            "resource_type_filter": self.resource_type,
            "resource_name_filter": self.name,
            "pattern_type_filter": self.pattern_type,
            "principal_filter": self.principal,
            "host_filter": None,
            "operation": AclOperation.ANY,
            "permission_type": PermissionType.ANY,
        }


def resource_options(patterns: Sequence[str], default: str) -> Callable[[Any], Any]:
    """Add the options that name resources, and how the names are meant."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed((
            click.option("--topic", "topics", metavar="NAME", multiple=True,
                         help="Topics; * for all."),
            click.option("--group", "groups", metavar="NAME", multiple=True,
                         help="Consumer groups; * for all."),
            click.option("--transactional-id", "transactional_ids", metavar="ID", multiple=True,
                         help="Transactional ids; * for all."),
            click.option("--cluster", is_flag=True, help="The cluster itself."),
            click.option("--resource-pattern-type", "pattern_type", default=default,
                         type=click.Choice(patterns, case_sensitive=False), show_default=True,
                         help="How the names are meant."),
        )):  # fmt: skip
            command = option(command)
        return command

    return add


def rule_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say who may, or may not, do what."""
    for option in reversed((
        click.option("--allow-principal", metavar="User:NAME", multiple=True,
                     help="Who may; User:* for everybody."),
        click.option("--deny-principal", metavar="User:NAME", multiple=True,
                     help="Who may not, whatever else allows it."),
        click.option("--allow-host", metavar="ADDRESS", multiple=True,
                     help="From where those may; without it, from everywhere."),
        click.option("--deny-host", metavar="ADDRESS", multiple=True,
                     help="From where those may not; without it, from nowhere."),
        click.option("--operation", "operations", metavar="NAME", multiple=True,
                     help=f"One of {', '.join(_ALL_OPERATIONS)}; without it, All."),
        click.option("--producer", is_flag=True,
                     help="All that a producer of these topics needs."),
        click.option("--consumer", is_flag=True,
                     help="All that a consumer of these topics in these groups needs."),
        click.option("--idempotent", is_flag=True,
                     help="With --producer, that brokers before 2.8 want for idempotence."),
    )):  # fmt: skip
        command = option(command)
    return command


def resources_of(given: Mapping[str, Any]) -> list[tuple[ResourceType, str]]:
    """Return the resources that were named."""
    resources = [(ResourceType.TOPIC, name) for name in given["topics"]]
    resources += [(ResourceType.GROUP, name) for name in given["groups"]]
    resources += [(ResourceType.TRANSACTIONAL_ID, name) for name in given["transactional_ids"]]
    if given["cluster"]:
        resources.append((ResourceType.CLUSTER, CLUSTER_NAME))
    return resources


def pattern_of(given: Mapping[str, Any]) -> PatternType:
    """Return how the names are meant."""
    return PatternType[given["pattern_type"].upper()]


def rules_of(given: Mapping[str, Any]) -> list[Rule]:
    """Return the ACLs that were described; without a principal there are none."""
    demands = list(dict.fromkeys(_demands(given)))
    holders = [
        (principal, host, permission)
        for permission, word in ((PermissionType.ALLOW, "allow"), (PermissionType.DENY, "deny"))
        for principal in given[f"{word}_principal"]
        for host in given[f"{word}_host"] or (ANY_HOST,)
    ]
    for word in ("allow", "deny"):
        if given[f"{word}_host"] and not given[f"{word}_principal"]:
            raise click.UsageError(f"--{word}-host needs --{word}-principal.")
    for principal, _, _ in holders:
        if ":" not in principal:
            raise click.BadParameter(f"'{principal}' has no type; write it as User:{principal}")
    pattern = pattern_of(given)
    return [
        Rule(
            kind,
            name,
            PatternType.LITERAL if kind is ResourceType.CLUSTER else pattern,
            *holder[:2],
            operation,
            holder[2],
        )
        for kind, name, operation in demands
        for holder in holders
    ]


def rule_of(*fields: Any) -> Rule:
    """Return an ACL that a cluster knows; its numbers may be those of a later version."""
    kind, name, pattern, principal, host, operation, permission = fields
    return Rule(
        _known(ResourceType, kind),
        name,
        _known(PatternType, pattern),
        principal,
        host,
        _known(AclOperation, operation),
        _known(PermissionType, permission),
    )


def spoken(operation: str) -> str:
    """Return a name of Kafka's as kafka-acls writes it.

    >>> spoken("DESCRIBE_CONFIGS")
    'DescribeConfigs'
    """
    return "".join(word.capitalize() for word in operation.split("_"))


def _demands(given: Mapping[str, Any]) -> Iterator[tuple[ResourceType, str, AclOperation]]:
    resources = resources_of(given)
    kinds = {kind for kind, _ in resources}
    if given["producer"] or given["consumer"]:
        if given["operations"] or given["deny_principal"]:
            raise click.UsageError(
                "--producer and --consumer say themselves which operations are allowed:"
                " give --allow-principal, and no --operation or --deny-principal."
            )
        if ResourceType.TOPIC not in kinds:
            raise click.UsageError("--producer and --consumer need --topic.")
        if given["consumer"] and ResourceType.GROUP not in kinds:
            raise click.UsageError("--consumer needs --group.")
    elif not resources:
        raise click.UsageError("Say on what: --topic, --group, --transactional-id or --cluster.")
    if given["idempotent"]:
        if not given["producer"]:
            raise click.UsageError("--idempotent goes with --producer.")
        yield ResourceType.CLUSTER, CLUSTER_NAME, AclOperation.IDEMPOTENT_WRITE
    for kind, name in resources:
        names: list[str] = []
        if given["producer"]:
            names += _FOR_PRODUCER.get(kind, ())
        if given["consumer"]:
            names += _FOR_CONSUMER.get(kind, ())
        if not given["producer"] and not given["consumer"]:
            names += given["operations"] or ("All",)
        for each in names:
            yield kind, name, _operation(kind, each)


def _operation(kind: ResourceType, name: str) -> AclOperation:
    plain = name.replace("_", "").replace("-", "").lower()
    for known in _OPERATIONS[kind]:
        if known.lower() == plain:
            return next(each for each in AclOperation if spoken(each.name) == known)
    raise click.BadParameter(
        f"there is no '{name}' on a {kind.name.lower().replace('_', ' ')};"
        f" there are {', '.join(_OPERATIONS[kind])}",
        param_hint="--operation",
    )


def _known(numbers: type[_Number], number: int) -> _Number:
    return numbers(number) if number in set(numbers) else numbers(0)


def _fields(values: Sequence[Any]) -> list[Any]:
    """Return the fields with confluent-kafka's enumerations, which calls the cluster BROKER."""
    from confluent_kafka import admin

    kinds = (
        (ResourceType, admin.ResourceType), (PatternType, admin.ResourcePatternType),
        (AclOperation, admin.AclOperation), (PermissionType, admin.AclPermissionType),
    )  # fmt: skip
    theirs: dict[type, Callable[[int], Any]] = dict(kinds)
    return [theirs[type(value)](int(value)) if type(value) in theirs else value for value in values]
