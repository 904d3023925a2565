"""DescribeClientQuotas and AlterClientQuotas over a real broker's journal."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from tests.unit.broker.admin import Admin, running

from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from pathlib import Path

VERSIONS = (0, 1)
Names = dict[str, str | None]


def entity(names: Names) -> list[dict[str, str | None]]:
    return [{"entity_type": kind, "entity_name": name} for kind, name in names.items()]


def entry(names: Names, **values: float | None) -> dict[str, Any]:
    return {
        "entity": entity(names),
        "ops": [
            {"key": key, "value": value or 0.0, "remove": value is None}
            for key, value in values.items()
        ],
    }


async def alter(
    admin: Admin, *entries: dict[str, Any], version: int = 1, validate_only: bool = False
) -> list[dict[str, Any]]:
    answer = await admin.call(
        ApiKey.ALTER_CLIENT_QUOTAS,
        version,
        {"entries": entries, "validate_only": validate_only},
    )
    return list(answer["entries"])


async def describe(
    admin: Admin, *components: tuple[str, int, str | None], strict: bool = False, version: int = 1
) -> Any:
    return await admin.call(
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        version,
        {
            "components": [
                {"entity_type": kind, "match_type": match_type, "match": match}
                for kind, match_type, match in components
            ],
            "strict": strict,
        },
    )


async def present(admin: Admin) -> dict[tuple[tuple[str, str | None], ...], dict[str, float]]:
    answer = await describe(admin)
    return {
        tuple((part["entity_type"], part["entity_name"]) for part in found["entity"]): {
            value["key"]: value["value"] for value in found["values"]
        }
        for found in answer["entries"]
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_quotas_are_set_described_and_removed(tmp_path: Path, version: int) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            (result,) = await alter(
                admin,
                entry({"client-id": "app"}, producer_byte_rate=1024.0, request_percentage=12.5),
                version=version,
            )
            assert result == {
                "error_code": ErrorCode.NONE,
                "error_message": None,
                "entity": entity({"client-id": "app"}),
            }
            answer = await describe(admin, ("client-id", 0, "app"), version=version)
            assert answer["error_code"] == ErrorCode.NONE
            (found,) = answer["entries"]
            assert found["entity"] == entity({"client-id": "app"})
            assert found["values"] == [
                {"key": "producer_byte_rate", "value": 1024.0},
                {"key": "request_percentage", "value": 12.5},
            ]
            await alter(admin, entry({"client-id": "app"}, producer_byte_rate=None))
            assert await present(admin) == {
                (("client-id", "app"),): {"request_percentage": 12.5},
            }
            await alter(admin, entry({"client-id": "app"}, request_percentage=None))
            assert await present(admin) == {}

    asyncio.run(run())


def test_quotas_are_there_after_a_restart(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            await alter(
                admin,
                entry({"user": None, "client-id": "app"}, consumer_byte_rate=5.0),
                entry({"ip": "10.0.0.1"}, connection_creation_rate=7.0),
                entry({"user": "gone"}, consumer_byte_rate=5.0),
            )
            await alter(admin, entry({"user": "gone"}, consumer_byte_rate=None))
            before = await present(admin)
        async with running(tmp_path) as admin:
            assert await present(admin) == before
            assert admin.broker.quotas.limits_requests
            assert admin.broker.quotas.connections

    asyncio.run(run())


def test_a_request_that_is_only_checked_changes_nothing(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            good, bad = await alter(
                admin,
                entry({"user": "ann"}, producer_byte_rate=5.0),
                entry({"user": "bob"}, producer_byte_rate=-5.0),
                validate_only=True,
            )
            assert good["error_code"] == ErrorCode.NONE
            assert bad["error_code"] == ErrorCode.INVALID_REQUEST
            assert await present(admin) == {}

    asyncio.run(run())


def test_what_is_wrong_is_refused_and_the_rest_is_done(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            results = await alter(
                admin,
                entry({"user": "ann"}, producer_byte_rate=5.0),
                entry({"user": ""}, producer_byte_rate=5.0),
                entry({"user": "bob"}, no_such_quota=5.0),
                entry({"user": "twice"}, producer_byte_rate=5.0),
                entry({"user": "twice"}, consumer_byte_rate=5.0),
            )
            codes = {one["entity"][0]["entity_name"]: one["error_code"] for one in results}
            assert codes == {
                "ann": ErrorCode.NONE,
                "": ErrorCode.INVALID_REQUEST,
                "bob": ErrorCode.INVALID_REQUEST,
                "twice": ErrorCode.INVALID_REQUEST,
            }
            assert all(one["error_message"] for one in results if one["error_code"])
            assert await present(admin) == {(("user", "ann"),): {"producer_byte_rate": 5.0}}

    asyncio.run(run())


def test_a_wrong_filter_is_an_error_and_no_list(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            answer = await describe(admin, ("group", 0, "a"))
            assert answer["error_code"] == ErrorCode.UNSUPPORTED_VERSION
            assert answer["error_message"]
            assert answer["entries"] is None

    asyncio.run(run())
