"""The four APIs of delegation tokens, what they refuse, and logging in with what they make."""

from __future__ import annotations

import asyncio
import base64
import hmac
from time import time, time_ns
from typing import TYPE_CHECKING, Any

import pytest
from tests.scram_client import ScramClient
from tests.unit.broker.admin import Admin, running
from tests.waiting import wait_for

from headwater.broker.acls.acl import Acl, ResourcePattern
from headwater.broker.metadata.metadata_store import TokenRecord
from headwater.broker.sasl.mechanism import LoginRefused
from headwater.broker.sasl.scram import ScramExchange
from headwater.broker.sasl.scram_credentials import ScramMechanism
from headwater.broker.session import ANONYMOUS, Authentication, Principal, Session
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from headwater.broker.broker import Broker

KEY = "the broker's secret"
SETTINGS = {
    "delegation_token_secret_key": KEY,
    "authorizer_class_name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
}
HOUR = 3_600_000
DAY = 24 * HOUR
ANN, BOB, EVE = (Principal("User", name) for name in ("ann", "bob", "eve"))


def client_of(
    broker: Broker,
    principal: Principal,
    protocol: str = "SASL_SSL",
    token_owner: Principal | None = None,
) -> Admin:
    admin = Admin(broker)
    proved = Authentication(principal, "SCRAM-SHA-256", token_owner=token_owner)
    admin.session = Session(protocol, protocol, "127.0.0.1", 5, broker.authorizer, proved)
    return admin


async def create(client: Admin, **given: Any) -> Any:
    tree = {"renewers": [], "max_lifetime": -1, **given}
    return await client.call(ApiKey.CREATE_DELEGATION_TOKEN, 3, tree)


async def renew(client: Admin, mac: bytes, period: int = -1) -> Any:
    tree = {"hmac": mac, "renew_period": period}
    return await client.call(ApiKey.RENEW_DELEGATION_TOKEN, 2, tree)


async def expire(client: Admin, mac: bytes, period: int = -1) -> Any:
    tree = {"hmac": mac, "expiry_time_period": period}
    return await client.call(ApiKey.EXPIRE_DELEGATION_TOKEN, 2, tree)


async def seen(client: Admin, *owners: Principal, version: int = 3) -> list[str]:
    wanted = [{"principal_type": owner.type, "principal_name": owner.name} for owner in owners]
    tree = {"owners": wanted or None}
    answer = await client.call(ApiKey.DESCRIBE_DELEGATION_TOKEN, version, tree)
    assert answer["error_code"] == ErrorCode.NONE
    return [token["token_id"] for token in answer["tokens"]]


def ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def user(principal: Principal) -> dict[str, str]:
    return {"principal_type": principal.type, "principal_name": principal.name}


def test_a_token_has_kafkas_hmac_and_times(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            ann = client_of(admin.broker, ANN)
            token = await create(ann, renewers=[user(BOB)])
            assert token["error_code"] == ErrorCode.NONE
            assert token["hmac"] == hmac.digest(KEY.encode(), token["token_id"].encode(), "sha512")
            assert (token["principal_name"], token["token_requester_principal_name"]) == (
                "ann", "ann",
            )  # fmt: skip
            issued = ms(token["issue_timestamp"])
            assert abs(issued - time() * 1000) < HOUR
            assert ms(token["expiry_timestamp"]) - issued == DAY
            assert ms(token["max_timestamp"]) - issued == 7 * DAY

            short = await create(ann, max_lifetime=HOUR)
            issued = ms(short["issue_timestamp"])
            assert ms(short["expiry_timestamp"]) == ms(short["max_timestamp"]) == issued + HOUR

            # Nobody gets more than there is left of its life.
            renewed = await renew(ann, short["hmac"], 2 * HOUR)
            assert ms(renewed["expiry_timestamp"]) == ms(short["max_timestamp"])
            sooner = await expire(client_of(admin.broker, BOB), token["hmac"], HOUR)
            assert sooner["error_code"] == ErrorCode.NONE
            assert ms(sooner["expiry_timestamp"]) < ms(token["expiry_timestamp"])
            longer = await renew(client_of(admin.broker, BOB), token["hmac"])
            assert ms(longer["expiry_timestamp"]) > ms(sooner["expiry_timestamp"])

    asyncio.run(run())


def test_who_may_see_renew_and_end_a_token(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            ann, bob, eve = (client_of(admin.broker, who) for who in (ANN, BOB, EVE))
            token = await create(ann, renewers=[user(BOB)])
            name, mac = token["token_id"], token["hmac"]
            for client, tokens in ((ann, [name]), (bob, [name]), (eve, [])):
                assert await seen(client) == tokens
            assert await seen(ann, BOB) == [name]
            assert await seen(ann, EVE) == []
            empty = await ann.call(ApiKey.DESCRIBE_DELEGATION_TOKEN, 3, {"owners": []})
            assert empty["tokens"] == []

            mismatch = ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH
            assert (await renew(eve, mac))["error_code"] == mismatch
            assert (await expire(eve, mac))["error_code"] == mismatch
            unknown = ErrorCode.DELEGATION_TOKEN_NOT_FOUND
            assert (await renew(ann, b"no HMAC"))["error_code"] == unknown
            ended = await expire(bob, mac)
            assert ended["error_code"] == ErrorCode.NONE
            assert ms(ended["expiry_timestamp"]) < ms(token["expiry_timestamp"])
            assert await seen(ann) == []
            assert (await renew(ann, mac))["error_code"] == unknown

    asyncio.run(run())


def test_acls_about_tokens_and_users(tmp_path: Path) -> None:
    def allow(kind: ResourceType, name: str, operation: AclOperation) -> Acl:
        pattern = ResourcePattern(kind, PatternType.LITERAL, name)
        return Acl(pattern, str(EVE), "*", operation, PermissionType.ALLOW)

    async def run() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            assert admin.broker.acls is not None
            ann, eve = client_of(admin.broker, ANN), client_of(admin.broker, EVE)
            other = {"owner_principal_type": "User", "owner_principal_name": "ann"}
            refused = await create(eve, **other)
            assert refused["error_code"] == ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED
            admin.broker.acls.change(
                [allow(ResourceType.USER, str(ANN), AclOperation.CREATE_TOKENS)]
            )
            made = await create(eve, **other)
            assert made["error_code"] == ErrorCode.NONE
            assert (made["principal_name"], made["token_requester_principal_name"]) == (
                "ann", "eve",
            )  # fmt: skip
            own = await create(ann)
            # Who has asked for a token sees it; others take a right to one, or to its owner's.
            assert await seen(eve) == [made["token_id"]]
            right = allow(ResourceType.DELEGATION_TOKEN, own["token_id"], AclOperation.DESCRIBE)
            admin.broker.acls.change([right])
            assert await seen(eve) == [made["token_id"], own["token_id"]]
            admin.broker.acls.change([], [right])
            assert await seen(eve) == [made["token_id"]]
            admin.broker.acls.change(
                [allow(ResourceType.USER, str(ANN), AclOperation.DESCRIBE_TOKENS)]
            )
            assert await seen(eve) == [made["token_id"], own["token_id"]]

    asyncio.run(run())


def test_who_gets_no_tokens(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            not_allowed = ErrorCode.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED
            ann = client_of(admin.broker, ANN)
            mac = (await create(ann))["hmac"]
            for client in (
                client_of(admin.broker, ANONYMOUS, "PLAINTEXT"),
                client_of(admin.broker, ANONYMOUS, "SSL"),
                client_of(admin.broker, ANN, token_owner=ANN),
            ):
                described = await client.call(ApiKey.DESCRIBE_DELEGATION_TOKEN, 2, {"owners": None})
                for answer in (
                    await create(client), await renew(client, mac), await expire(client, mac),
                    described,
                ):  # fmt: skip
                    assert answer["error_code"] == not_allowed
            by_certificate = client_of(admin.broker, ANN, "SSL")
            assert (await create(by_certificate))["error_code"] == ErrorCode.NONE
            group = {"principal_type": "Group", "principal_name": "g"}
            refused = await create(ann, renewers=[group])
            assert refused["error_code"] == ErrorCode.INVALID_PRINCIPAL_TYPE

    asyncio.run(run())


def test_without_a_key_there_are_none(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            ann = client_of(admin.broker, ANN)
            described = await ann.call(ApiKey.DESCRIBE_DELEGATION_TOKEN, 1, {"owners": None})
            for answer in (
                await create(ann), await renew(ann, b"x"), await expire(ann, b"x"), described,
            ):  # fmt: skip
                assert answer["error_code"] == ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED

    asyncio.run(run())


@pytest.mark.parametrize("mechanism", ScramMechanism)
def test_scram_takes_a_token_for_its_owner(tmp_path: Path, mechanism: ScramMechanism) -> None:
    async def run() -> None:
        async with running(tmp_path, **SETTINGS) as admin:
            token = await create(client_of(admin.broker, ANN))
            password = base64.b64encode(token["hmac"]).decode()
            good = (token["token_id"], password, ",tokenauth=true")

            def attempt(name: str, password: str, extensions: str) -> Any:
                exchange = ScramExchange(mechanism, {}, admin.broker.delegation_tokens)
                client = ScramClient(mechanism, name, password, extensions)
                return exchange.take(client.final(exchange.take(client.first).answer))

            for _ in range(2):
                step = attempt(*good)
                assert (step.user, step.by_token) == ("ann", True)
                assert round(step.expires_at * 1000) == ms(token["expiry_timestamp"])
            for bad in (
                (token["token_id"], password, ""),
                (token["token_id"], "guessed", ",tokenauth=true"),
                ("unknown", password, ",tokenauth=true"),
            ):
                with pytest.raises(LoginRefused):
                    attempt(*bad)
            await expire(client_of(admin.broker, ANN), token["hmac"])
            with pytest.raises(LoginRefused):
                attempt(*good)

    asyncio.run(run())


def test_expired_tokens_are_good_for_nothing_and_cleared_away(tmp_path: Path) -> None:
    async def run() -> None:
        often = {"delegation_token_expiry_check_interval_ms": "20"}
        async with running(tmp_path, **SETTINGS) as admin:
            token = await create(client_of(admin.broker, ANN))
            stored = admin.broker.topics.delegation_tokens()[token["token_id"]]
            past = stored._replace(expires_ms=time_ns() // 1_000_000 - 1)
            await admin.broker.topics.store_credentials([TokenRecord(past)])
            answer = await renew(client_of(admin.broker, ANN), token["hmac"])
            assert answer["error_code"] == ErrorCode.DELEGATION_TOKEN_EXPIRED
            tokens = admin.broker.delegation_tokens
            now_ms = time_ns() // 1_000_000
            assert tokens.login(past.id, ScramMechanism.SCRAM_SHA_256, now_ms) is None
        async with running(tmp_path, **SETTINGS, **often) as admin:
            tokens_of = admin.broker.topics.delegation_tokens
            await asyncio.to_thread(wait_for, tokens_of, until=lambda tokens: not tokens)

    asyncio.run(run())
