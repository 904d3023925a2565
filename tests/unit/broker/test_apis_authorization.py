"""Every API asks for the rights that Kafka asks for, and answers who has none as Kafka does."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tests.unit.broker.admin import Admin, running
from tests.unit.broker.authorization_case import GROUP, NO_GROUP, NO_TOPIC, TOPIC, named
from tests.unit.broker.authorization_cases import CASES, NOBODY_ASKS

from headwater.broker.apis import HANDLERS
from headwater.protocol.acls import AclOperation, ResourceType
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from headwater.broker.authorizer import Resource
    from headwater.broker.session import Principal, Session


class Recorder:
    """Notes what it is asked, and says yes to what is not denied."""

    def __init__(self, *, denies_all: bool = False, denied: str = "") -> None:
        self.asked: set[str] = set()
        self._denies_all = denies_all
        self._denied = denied

    def allows_all(self, principal: Principal) -> bool:
        return False

    def authorize(self, session: Session, operation: AclOperation, resource: Resource) -> bool:
        self.asked.add(asked := f"{operation.name} {resource}")
        return not self._denies_all and asked != self._denied

    def authorize_by_type(
        self, session: Session, operation: AclOperation, resource_type: ResourceType
    ) -> bool:
        self.asked.add(f"{operation.name} any {resource_type.name}")
        return not self._denies_all

    def denied(self, session: Session, operation: AclOperation, resource: Resource) -> None:
        """Nobody reads about it."""


async def prepare(admin: Admin) -> None:
    """A topic, a group that has committed, and a transactional id."""
    for api_key in (ApiKey.FIND_COORDINATOR, ApiKey.INIT_PRODUCER_ID):
        for case in CASES:
            if case.api_key is api_key:
                await admin.call(case.api_key, case.version, case.tree)
    wanted = {"name": "t", "num_partitions": 1, "replication_factor": 1}
    await admin.call(ApiKey.CREATE_TOPICS, 7, {"topics": [wanted], "timeout": 1000})
    (commit,) = [case for case in CASES if case.api_key is ApiKey.OFFSET_COMMIT]
    committed = await admin.call(commit.api_key, commit.version, commit.tree)
    assert set(codes_in(committed)) == {ErrorCode.NONE}


def codes_in(tree: Any) -> Iterator[int]:
    match tree:
        case dict():
            for name, value in tree.items():
                if name.endswith("error_code"):
                    yield value
                else:
                    yield from codes_in(value)
        case list():
            for item in tree:
                yield from codes_in(item)


def test_no_api_is_served_that_never_asks() -> None:
    assert {case.api_key for case in CASES} | set(NOBODY_ASKS) == set(HANDLERS)


def test_every_api_asks_for_what_kafka_asks(tmp_path: Path) -> None:
    async def run() -> dict[str, set[str]]:
        async with running(tmp_path, auto_create_topics_enable="true") as admin:
            await prepare(admin)
            asked = {}
            for number, case in enumerate(CASES):
                recorder = Recorder()
                guest = Admin(admin.broker, recorder)
                await guest.call(case.api_key, case.version, case.tree)
                asked[f"{number} {case.api_key.name}"] = recorder.asked
            return asked

    asked = asyncio.run(run())
    for number, case in enumerate(CASES):
        name = f"{number} {case.api_key.name}"
        if case.asks == {"DESCRIBE TOPIC *"}:
            assert f"DESCRIBE {TOPIC}" in asked[name], name
        else:
            assert asked[name] == case.asks, name


def test_who_may_do_nothing_gets_kafkas_errors(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path, auto_create_topics_enable="true") as admin:
            await prepare(admin)
            topics = set(admin.broker.topics.by_name)
            for number, case in enumerate(CASES):
                guest = Admin(admin.broker, Recorder(denies_all=True))
                answer = await guest.call(case.api_key, case.version, case.tree)
                codes = {ErrorCode(code) for code in codes_in(answer)} - {ErrorCode.NONE}
                assert codes == case.errors, (number, case.api_key.name, answer)
            assert set(admin.broker.topics.by_name) == topics
            await leaves_out(Admin(admin.broker, Recorder(denies_all=True)))

    async def leaves_out(guest: Admin) -> None:
        metadata = await guest.call(ApiKey.METADATA, 12, {"topics": None})
        assert metadata["topics"] == []
        assert (await guest.call(ApiKey.LIST_GROUPS, 4, {}))["groups"] == []
        listed = await guest.call(ApiKey.LIST_TRANSACTIONS, 1, {})
        assert listed["transaction_states"] == []
        described = await guest.call(
            ApiKey.DESCRIBE_CLUSTER,
            1,
            {"include_cluster_authorized_operations": True, "endpoint_type": 1},
        )
        assert described["cluster_authorized_operations"] == 0

    asyncio.run(run())


LACKS_ONE = [
    (ApiKey.OFFSET_COMMIT, f"READ {TOPIC}", NO_TOPIC),
    (ApiKey.OFFSET_FETCH, f"DESCRIBE {TOPIC}", NO_TOPIC),
    (ApiKey.OFFSET_DELETE, f"READ {TOPIC}", NO_TOPIC),
    (ApiKey.TXN_OFFSET_COMMIT, f"READ {TOPIC}", NO_TOPIC),
    (ApiKey.TXN_OFFSET_COMMIT, f"READ {GROUP}", NO_GROUP),
    (ApiKey.ADD_OFFSETS_TO_TXN, f"READ {GROUP}", NO_GROUP),
    (ApiKey.ADD_PARTITIONS_TO_TXN, f"WRITE {TOPIC}", NO_TOPIC),
    (ApiKey.CONSUMER_GROUP_HEARTBEAT, f"DESCRIBE {TOPIC}", NO_TOPIC),
]


def test_who_lacks_one_right_of_several(tmp_path: Path) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            await prepare(admin)
            for api_key, denied, error in LACKS_ONE:
                case = next(case for case in CASES if case.api_key is api_key)
                guest = Admin(admin.broker, Recorder(denied=denied))
                codes = set(codes_in(await guest.call(api_key, case.version, case.tree)))
                assert error in codes, (api_key.name, codes)

    asyncio.run(run())


def test_what_somebody_may_do_is_told(tmp_path: Path) -> None:
    async def run() -> tuple[int, int]:
        async with running(tmp_path) as admin:
            await prepare(admin)
            guest = Admin(admin.broker, Recorder(denied=f"WRITE {TOPIC}"))
            asked = {"topics": named(), "include_topic_authorized_operations": True}
            told = [await each.call(ApiKey.METADATA, 12, asked) for each in (admin, guest)]
            everything, less = (t["topics"][0]["topic_authorized_operations"] for t in told)
            return everything, less

    everything, less = asyncio.run(run())
    assert everything == 0b1101_1111_1000
    assert everything - less == 1 << AclOperation.WRITE
