"""DescribeAcls, CreateAcls and DeleteAcls as a client sees them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.unit.broker.admin import Admin, running

from headwater.broker.config.settings.acls import STANDARD_AUTHORIZER
from headwater.broker.session import USER, Authentication, Principal
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from pathlib import Path

VERSION = 3
SETTINGS = {"authorizer_class_name": STANDARD_AUTHORIZER, "super_users": "User:admin"}


def creation(name: str, **other: Any) -> dict[str, Any]:
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


def picks(**other: Any) -> dict[str, Any]:
    return {
        "resource_type_filter": ResourceType.ANY,
        "pattern_type_filter": PatternType.ANY,
        "operation": AclOperation.ANY,
        "permission_type": PermissionType.ANY,
        **other,
    }


def somebody(admin: Admin, name: str) -> Admin:
    """Another client of the same broker, who has proved to be somebody."""
    guest = Admin(admin.broker, admin.broker.authorizer)
    proved = Authentication(Principal(USER, name), "PLAIN")
    guest.session = guest.session.authenticated(proved)
    return guest


async def create(admin: Admin, *creations: dict[str, Any]) -> list[tuple[int, str | None]]:
    answer = await admin.call(ApiKey.CREATE_ACLS, VERSION, {"creations": list(creations)})
    return [(result["error_code"], result["error_message"]) for result in answer["results"]]


async def described(admin: Admin, **filtered: Any) -> list[tuple[str, str]]:
    """The names and principals of the ACLs that a filter picks."""
    answer = await admin.call(ApiKey.DESCRIBE_ACLS, VERSION, picks(**filtered))
    assert answer["error_code"] == ErrorCode.NONE, answer
    return [
        (resource["resource_name"], acl["principal"])
        for resource in answer["resources"]
        for acl in resource["acls"]
    ]


def test_without_an_authorizer_there_is_no_security(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            disabled = ErrorCode.SECURITY_DISABLED
            for version in (1, 2, 3):
                answer = await admin.call(ApiKey.DESCRIBE_ACLS, version, picks())
                assert answer["error_code"] == disabled
                assert "No Authorizer is configured" in answer["error_message"]
                made = await admin.call(
                    ApiKey.CREATE_ACLS, version, {"creations": [creation("t")] * 2}
                )
                assert [result["error_code"] for result in made["results"]] == [disabled] * 2
                gone = await admin.call(ApiKey.DELETE_ACLS, version, {"filters": [picks()]})
                assert [result["error_code"] for result in gone["filter_results"]] == [disabled]

    asyncio.run(run())


def test_acls_are_created_described_deleted_and_there_after_a_restart(tmp_path: Path) -> None:
    async def first() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            ok = (ErrorCode.NONE, None)
            prefix = {"resource_pattern_type": PatternType.PREFIXED}
            bob = {"principal": "User:bob", "host": "10.0.0.1"}
            made = [creation("t"), creation("t", **bob), creation("t-", **prefix), creation("*")]
            assert await create(admin, *made, creation("t")) == [ok] * 5
            assert await create(admin, creation("t")) == [ok]
            assert len(admin.broker.topics.acls) == 4
            everything = [("t", "User:ann"), ("t", "User:bob"), ("t-", "User:ann")]
            assert await described(admin) == [*everything, ("*", "User:ann")]
            assert await described(admin, host_filter="10.0.0.1") == [("t", "User:bob")]
            match = {"pattern_type_filter": PatternType.MATCH, "resource_name_filter": "t-1"}
            assert await described(admin, **match) == [("t-", "User:ann"), ("*", "User:ann")]
            named = {"resource_name_filter": "t", "pattern_type_filter": PatternType.PREFIXED}
            assert await described(admin, **named) == []
            answer = await admin.call(
                ApiKey.DELETE_ACLS,
                VERSION,
                {
                    "filters": [
                        picks(principal_filter="User:bob"),
                        picks(resource_name_filter="t"),
                        picks(operation=99),
                        picks(principal_filter="User:eve"),
                    ]
                },
            )
            told = [
                (result["error_code"], [acl["principal"] for acl in result["matching_acls"]])
                for result in answer["filter_results"]
            ]
            assert told == [
                (ErrorCode.NONE, ["User:bob"]),
                (ErrorCode.NONE, ["User:ann", "User:bob"]),
                (ErrorCode.INVALID_REQUEST, []),
                (ErrorCode.NONE, []),
            ]

    async def second() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            assert await described(admin) == [("t-", "User:ann"), ("*", "User:ann")]

    asyncio.run(first())
    asyncio.run(second())


def test_what_nobody_could_mean_is_refused_and_the_rest_is_done(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            wrong = [
                creation(""),
                creation("x", resource_type=ResourceType.CLUSTER),
                creation("x", resource_type=ResourceType.ANY),
                creation("x", resource_type=77),
                creation("x", resource_pattern_type=PatternType.MATCH),
                creation("x", operation=AclOperation.ANY),
                creation("x", permission_type=PermissionType.ANY),
                creation("x", principal="ann"),
            ]
            results = await create(admin, *wrong, creation("t"))
            assert [code for code, _ in results[:-1]] == [ErrorCode.INVALID_REQUEST] * len(wrong)
            assert all(message for _, message in results[:-1])
            assert results[-1] == (ErrorCode.NONE, None)
            assert await described(admin) == [("t", "User:ann")]

    asyncio.run(run())


def test_a_right_is_there_at_once_and_gone_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            wanted = {"name": "t", "num_partitions": 1, "replication_factor": 1}
            await admin.call(ApiKey.CREATE_TOPICS, 7, {"topics": [wanted], "timeout": 1000})
            ann, boss = somebody(admin, "ann"), somebody(admin, "admin")

            async def sees(client: Admin) -> list[str]:
                answer = await client.call(ApiKey.METADATA, 12, {"topics": None})
                return [topic["name"] for topic in answer["topics"]]

            assert await sees(boss) == ["t"]
            assert await sees(ann) == []
            assert (await create(ann, creation("t")))[0][0] == (
                ErrorCode.CLUSTER_AUTHORIZATION_FAILED
            )
            assert await create(boss, creation("t")) == [(ErrorCode.NONE, None)]
            assert await sees(ann) == ["t"]
            assert await sees(somebody(admin, "bob")) == []
            denial = creation("*", operation=AclOperation.ALL, permission_type=PermissionType.DENY)
            await create(boss, denial)
            assert await sees(ann) == []
            denials = picks(permission_type=PermissionType.DENY)
            await boss.call(ApiKey.DELETE_ACLS, VERSION, {"filters": [denials]})
            assert await sees(ann) == ["t"]
            await boss.call(ApiKey.DELETE_ACLS, VERSION, {"filters": [picks()]})
            assert await sees(ann) == []

    asyncio.run(run())


def test_a_pattern_matches_no_topic_that_its_member_may_not_see(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            await create(
                admin,
                creation("orders-open"),
                creation("g", resource_type=ResourceType.GROUP),
            )
            names = ("orders-open", "orders-secret")
            topics = [{"name": n, "num_partitions": 1, "replication_factor": 1} for n in names]
            made = await admin.call(ApiKey.CREATE_TOPICS, 7, {"topics": topics, "timeout": 1000})
            ids = {topic["topic_id"]: topic["name"] for topic in made["topics"]}
            ann = somebody(admin, "ann")
            finding = {"key_type": 0, "coordinator_keys": ["g"]}
            await ann.call(ApiKey.FIND_COORDINATOR, 4, finding)

            async def beat(epoch: int, **more: Any) -> tuple[int, set[str] | None]:
                member = {"group_id": "g", "member_id": "m", "member_epoch": epoch, **more}
                answer = await ann.call(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, member)
                assert answer["error_code"] == ErrorCode.NONE, answer
                given = answer["assignment"]
                named = given and {ids[each["topic_id"]] for each in given["topic_partitions"]}
                return answer["member_epoch"], named

            joins = {"subscribed_topic_regex": "orders-.*", "topic_partitions": []}
            epoch, given = await beat(0, rebalance_timeout=1000, **joins)
            assert given == {"orders-open"}
            await create(admin, creation("orders-", resource_pattern_type=PatternType.PREFIXED))
            _, given = await beat(epoch)
            assert given == {"orders-open", "orders-secret"}

    asyncio.run(run())
