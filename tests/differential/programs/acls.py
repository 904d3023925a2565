"""ACLs as the three APIs and Kafka's tool make, show and delete them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.cli_command import Cli
from tests.differential.observation import plain
from tests.differential.program import program
from tests.waiting import wait_for

from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.differential.engine import Engine
    from tests.integration.raw_client import RawClient

Acl = dict[str, Any]

EVERYTHING = {
    "resource_type_filter": ResourceType.ANY,
    "resource_name_filter": None,
    "pattern_type_filter": PatternType.ANY,
    "principal_filter": None,
    "host_filter": None,
    "operation": AclOperation.ANY,
    "permission_type": PermissionType.ANY,
}
KINDS = [kind for kind in ResourceType if ResourceType.ANY < kind <= ResourceType.TRANSACTIONAL_ID]


def acl(name: str, **other: Any) -> Acl:
    return {
        "resource_type": ResourceType.TOPIC,
        "resource_name": name,
        "resource_pattern_type": PatternType.LITERAL,
        "principal": "User:ann",
        "host": "*",
        "operation": AclOperation.READ,
        "permission_type": PermissionType.ALLOW,
        **other,
    }


def all_rights(kind: ResourceType, address: str) -> Acl:
    name = "kafka-cluster" if kind is ResourceType.CLUSTER else "*"
    return acl(
        name,
        resource_type=kind,
        principal="User:ANONYMOUS",
        host=address,
        operation=AclOperation.ALL,
    )


def create(client: RawClient, acls: Iterable[Acl], version: int = 3) -> Any:
    return plain(client.call("create_acls", version, creations=list(acls)).results)


def describe(client: RawClient, version: int = 3, **filtered: Any) -> Any:
    """All ACLs that a filter picks, sorted: brokers have no order of their own."""
    answer = plain(client.call("describe_acls", version, **EVERYTHING | filtered))
    for resource in answer["resources"]:
        resource["acls"].sort(key=repr)
    answer["resources"].sort(key=repr)
    return answer


def delete(client: RawClient, *filters: dict[str, Any], version: int = 3) -> Any:
    answer = client.call("delete_acls", version, filters=[EVERYTHING | f for f in filters])
    results = plain(answer.filter_results)
    for result in results:
        result["matching_acls"].sort(key=repr)
    return results


def count(client: RawClient) -> int:
    return sum(len(resource["acls"]) for resource in describe(client)["resources"])


@contextmanager
def acls_for(engine: Engine, acls: list[Acl]) -> Iterator[None]:
    """Have ACLs for a while: Kafka's broker learns of them a moment after it has taken them."""
    with engine.raw() as admin:
        create(admin, acls)
        try:
            wait_for(lambda: count(admin) == len(acls))
            yield
        finally:
            delete(admin, {})
            wait_for(lambda: count(admin) == 0)


@program
def acls_created_described_and_deleted(engine: Engine, name: str) -> Any:
    mine = [
        acl(name),
        acl(name, host="10.0.0.1", principal="User:bob"),
        acl(f"{name}-", resource_pattern_type=PatternType.PREFIXED),
        acl("*", permission_type=PermissionType.DENY, host="10.0.0.1"),
        acl(name, resource_type=ResourceType.GROUP, operation=AclOperation.ALL),
        acl(name, resource_type=ResourceType.TRANSACTIONAL_ID, operation=AclOperation.WRITE),
        acl("User:bob", resource_type=ResourceType.USER, operation=AclOperation.CREATE_TOKENS),
        acl(name, resource_type=ResourceType.DELEGATION_TOKEN, operation=AclOperation.DESCRIBE),
    ]
    with engine.raw() as client:
        seen = [create(client, [*mine, mine[0]], version) for version in (1, 2, 3)]
        wait_for(lambda: count(client) == len(mine))
        match = {"resource_name_filter": f"{name}-1", "pattern_type_filter": PatternType.MATCH}
        seen += [describe(client, version) for version in (1, 2, 3)]
        seen += [
            describe(client, **filtered)
            for filtered in (
                match,
                {**match, "resource_type_filter": ResourceType.TOPIC},
                {"resource_name_filter": name},
                {"pattern_type_filter": PatternType.PREFIXED},
                {"principal_filter": "User:bob"},
                {"host_filter": "10.0.0.1"},
                {"operation": AclOperation.ALL},
                {"permission_type": PermissionType.DENY},
                {"resource_name_filter": "nothing"},
            )
        ]
        seen.append(delete(client, match, {"principal_filter": "User:eve"}))
        wait_for(lambda: count(client) < len(mine))
        seen.append(describe(client))
        seen.append(delete(client, {}))
        wait_for(lambda: count(client) == 0)
        return seen


@program
def acls_that_nobody_could_mean(engine: Engine, name: str) -> Any:
    with engine.raw() as client:
        return [
            create(client, [wrong])
            for wrong in (
                acl(""),
                acl(name, resource_type=ResourceType.CLUSTER),
                acl(name, resource_type=ResourceType.ANY),
                acl(name, resource_pattern_type=PatternType.MATCH),
                acl(name, operation=AclOperation.ANY),
                acl(name, permission_type=PermissionType.ANY),
                acl(name, principal="ann"),
            )
        ]


@program
def acls_by_our_command(engine: Engine, name: str) -> Any:
    cli = Cli(engine.bootstrap_servers)
    rules = [
        ("--allow-principal", "User:ann", "--producer", "--topic", name,
         "--transactional-id", name),
        ("--allow-principal", "User:bob", "--consumer", "--topic", name, "--group", name),
        ("--deny-principal", "User:*", "--deny-host", "10.0.0.1", "--topic", f"{name}-",
         "--operation", "describe-configs", "--resource-pattern-type", "prefixed"),
    ]  # fmt: skip
    with engine.raw() as client:
        seen = [cli("acls", "add", *rule) for rule in rules]
        wait_for(lambda: count(client) == 9)
        match = ("--topic", f"{name}-1", "--resource-pattern-type", "match")
        seen += [cli("acls", "list", *some) for some in ((), match, ("--principal", "User:ann"))]
        seen += [cli("acls", "remove", *rules[0]), cli("acls", "remove", "--topic", name, "--yes")]
        seen.append(cli("acls", "remove", "--group", name, *match, "--yes"))
        wait_for(lambda: count(client) == 0)
        return [list(finished) for finished in seen]


@program
def tools_acls(engine: Engine, name: str) -> Any:
    rules = [
        ("--allow-principal", "User:ann", "--producer", "--topic", name, "--idempotent"),
        ("--allow-principal", "User:bob", "--consumer", "--topic", name, "--group", name),
        ("--allow-principal", "User:bob", "--allow-host", "10.0.0.1", "--operation", "Write",
         "--transactional-id", name, "--resource-pattern-type", "prefixed"),
        ("--deny-principal", "User:eve", "--operation", "All", "--topic", "*"),
    ]  # fmt: skip
    keep = ("--allow-principal", "User:*", "--allow-host", "127.0.0.1", "--cluster")

    def run(*arguments: str) -> Any:
        code, lines = engine.tool("kafka-acls", *arguments)
        return [code, sorted(line.strip() for line in lines)]

    with engine.raw() as client:
        seen = [run("--add", *keep), *(run("--add", *rule) for rule in rules)]
        wait_for(lambda: count(client) == 10)
        seen += [
            run("--list"),
            run("--list", "--topic", name),
            run("--list", "--principal", "User:bob"),
        ]
        seen += [run("--remove", "--force", *rule) for rule in rules]
        delete(client, {})
        wait_for(lambda: count(client) == 0)
    return seen
