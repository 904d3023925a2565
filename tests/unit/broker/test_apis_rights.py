"""Walks every API with and without each right, by real ACLs, and holds docs/acls.md against it."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from tests.unit.broker.admin import Admin, running
from tests.unit.broker.authorization_cases import CASES
from tests.unit.broker.documented_rights import Right, Row, documented_rights
from tests.unit.broker.test_apis_authorization import Recorder, codes_in, prepare

from headwater.broker.acls.acl import Acl, ResourcePattern
from headwater.broker.acls.standard_authorizer import StandardAuthorizer
from headwater.broker.topics.topics import NewTopic
from headwater.protocol.acls import AclOperation, PatternType, PermissionType, ResourceType
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.broker.authorization_case import Case

TELL_RIGHTS = {ApiKey.DESCRIBE_CLUSTER, ApiKey.DESCRIBE_TOPIC_PARTITIONS}
"""They look at all rights, and demand one."""
GUEST = "User:ANONYMOUS"


def everything_but(*denied: Right) -> StandardAuthorizer:
    def acl(kind: ResourceType, operation: AclOperation, permission: PermissionType) -> Acl:
        pattern = ResourcePattern(kind, PatternType.LITERAL, "*")
        return Acl(pattern, GUEST, "127.0.0.1", operation, permission)

    authorizer = StandardAuthorizer(())
    authorizer.change(
        acl(kind, AclOperation.ALL, PermissionType.ALLOW)
        for kind in ResourceType
        if kind > ResourceType.ANY
    )
    authorizer.change(
        acl(ResourceType[kind], AclOperation[operation], PermissionType.DENY)
        for operation, kind in denied
    )
    return authorizer


async def refusals(admin: Admin, case: Case, authorizer: StandardAuthorizer) -> set[str]:
    """The codes with which the answer refuses something for want of a right."""
    await begin(admin, case)
    guest = Admin(admin.broker, authorizer)
    answer = await guest.call(case.api_key, case.version, case.tree)
    names = {ErrorCode(code).name for code in codes_in(answer)}
    return {name for name in names if name.endswith("_AUTHORIZATION_FAILED")}


async def rights_of(admin: Admin, case: Case) -> set[Right]:
    """All that the API asks for, whatever it is told."""
    asked: set[str] = set()
    recorders = [Recorder(), Recorder(denies_all=True)]
    while recorders:
        recorder = recorders.pop()
        await begin(admin, case)
        await Admin(admin.broker, recorder).call(case.api_key, case.version, case.tree)
        recorders += [Recorder(denied=question) for question in recorder.asked - asked]
        asked |= recorder.asked
    rights = set()
    for question in asked:
        operation, *_, kind = re.split(" any | ", question)[:2]
        if case.api_key not in TELL_RIGHTS or operation == "DESCRIBE":
            rights.add((operation, kind))
    return rights


async def walk(directory: Path) -> dict[Row, set[str]]:
    """Each right of each API, with the errors of who has all rights but that one.

    Where others can stand in for it, the errors of who lacks those as well.
    """
    found: dict[Row, set[str]] = {}
    async with running(directory, auto_create_topics_enable="true") as admin:
        await prepare(admin)
        for case in CASES:
            assert await refusals(admin, case, everything_but()) == set(), case
            without = {
                right: await refusals(admin, case, everything_but(right))
                for right in await rights_of(admin, case)
            }
            no_matter = [right for right, codes in without.items() if not codes]
            together = await refusals(admin, case, everything_but(*no_matter))
            for right, codes in without.items():
                found.setdefault((case.api_key, right), set()).update(codes or together)
    return found


async def begin(admin: Admin, case: Case) -> None:
    """Bring about what a request is to find."""
    topics = admin.broker.topics
    made_by_requests = [topics.by_name.get(name) for name in ("new", "made")]
    await topics.delete([topic for topic in made_by_requests if topic is not None])
    if "doomed" not in topics.by_name:
        await topics.create([NewTopic("doomed", 1, {})])
    if case.api_key is ApiKey.DESCRIBE_TRANSACTIONS:
        given = {"transactional_id": "x", "transaction_timeout": 9999}
        given |= {"producer_id": -1, "producer_epoch": -1}
        producer = await admin.call(ApiKey.INIT_PRODUCER_ID, 4, given)
        tree = {
            "v3_and_below_transactional_id": "x",
            "v3_and_below_producer_id": producer["producer_id"],
            "v3_and_below_producer_epoch": producer["producer_epoch"],
            "v3_and_below_topics": [{"name": "t", "partitions": [0]}],
        }
        await admin.call(ApiKey.ADD_PARTITIONS_TO_TXN, 3, tree)


def test_the_table_in_the_docs_is_what_the_code_asks_for(tmp_path: Path) -> None:
    documented = documented_rights()
    found = asyncio.run(walk(tmp_path))
    assert documented.keys() == found.keys()
    for row, codes in found.items():
        assert documented[row] == codes, row
