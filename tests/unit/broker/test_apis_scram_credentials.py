"""DescribeUserScramCredentials and AlterUserScramCredentials over a real broker's journal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.unit.broker.admin import Admin, running

from headwater.broker.sasl.scram_credentials import NOBODY
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from pathlib import Path

SHA_256, SHA_512 = 1, 2


def upsertion(name: str, mechanism: int = SHA_256, iterations: int = 4096) -> dict[str, Any]:
    return {
        "name": name, "mechanism": mechanism, "iterations": iterations,
        "salt": b"salt of " + name.encode(), "salted_password": b"x" * 32,
    }  # fmt: skip


def deletion(name: str, mechanism: int = SHA_256) -> dict[str, Any]:
    return {"name": name, "mechanism": mechanism}


async def alter(admin: Admin, *changes: dict[str, Any]) -> dict[str, ErrorCode]:
    tree = {
        "deletions": [change for change in changes if "salt" not in change],
        "upsertions": [change for change in changes if "salt" in change],
    }
    answer = await admin.call(ApiKey.ALTER_USER_SCRAM_CREDENTIALS, 0, tree)
    return {result["user"]: ErrorCode(result["error_code"]) for result in answer["results"]}


async def describe(admin: Admin, *names: str) -> dict[str, Any]:
    tree = {"users": [{"name": name} for name in names] or None}
    answer = await admin.call(ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS, 0, tree)
    assert answer["error_code"] == 0
    return {
        result["user"]: ErrorCode(result["error_code"])
        if result["error_code"]
        else {info["mechanism"]: info["iterations"] for info in result["credential_infos"]}
        for result in answer["results"]
    }


def test_users_come_change_stay_and_go(tmp_path: Path) -> None:
    async def first() -> None:
        async with running(tmp_path) as admin:
            assert await describe(admin) == {}
            changes = [upsertion("ann"), upsertion("ann", SHA_512, 8192), upsertion("bob")]
            assert await alter(admin, *changes) == {"ann": 0, "bob": 0}
            expected = {"ann": {SHA_256: 4096, SHA_512: 8192}, "bob": {SHA_256: 4096}}
            assert await describe(admin) == expected
            assert await alter(admin, upsertion("bob", iterations=5000)) == {"bob": 0}
            assert await alter(admin, deletion("ann")) == {"ann": 0}

    async def second() -> None:
        async with running(tmp_path) as admin:
            assert await describe(admin) == {"ann": {SHA_512: 8192}, "bob": {SHA_256: 5000}}
            assert await describe(admin, "bob") == {"bob": {SHA_256: 5000}}
            kept = {user for user, _ in admin.broker.topics.scram_credentials()}
            assert kept == {"ann", "bob", NOBODY}

    asyncio.run(first())
    asyncio.run(second())


def test_what_is_wrong_is_said_of_each_user(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            answers = await alter(
                admin,
                upsertion("fine"),
                upsertion(""),
                upsertion("few", iterations=4095),
                upsertion("many", iterations=16_385),
                upsertion("odd", mechanism=3),
                upsertion("twice"),
                deletion("twice"),
                deletion("missing"),
            )
            assert answers == {
                "fine": ErrorCode.NONE,
                "": ErrorCode.UNACCEPTABLE_CREDENTIAL,
                "few": ErrorCode.UNACCEPTABLE_CREDENTIAL,
                "many": ErrorCode.UNACCEPTABLE_CREDENTIAL,
                "odd": ErrorCode.UNSUPPORTED_SASL_MECHANISM,
                "twice": ErrorCode.DUPLICATE_RESOURCE,
                "missing": ErrorCode.RESOURCE_NOT_FOUND,
            }
            assert await describe(admin, "fine", "missing", "") == {
                "fine": {SHA_256: 4096},
                "missing": ErrorCode.RESOURCE_NOT_FOUND,
                "": ErrorCode.RESOURCE_NOT_FOUND,
            }
            twice = await describe(admin, "fine", "fine")
            assert twice == {"fine": ErrorCode.DUPLICATE_RESOURCE}

    asyncio.run(run())
