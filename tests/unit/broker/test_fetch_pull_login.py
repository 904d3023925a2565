"""A fetch that waits ends with the login of its client."""

from __future__ import annotations

import asyncio
from time import time
from typing import TYPE_CHECKING, Any

from tests.unit.broker.admin import Admin, running
from tests.waiting import HUNG_AFTER_S

from headwater.broker.fetch import pull
from headwater.broker.session import USER, Authentication, Principal
from headwater.log.log import AppendOrigin
from headwater.log.records.record import Record, encode_batch
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LONG_MS = 10 * 60 * 1000


def log_in(admin: Admin, expires_at: float) -> None:
    ann = Principal(USER, "ann")
    admin.session = admin.session.authenticated(Authentication(ann, "PLAIN", expires_at))


async def create(admin: Admin) -> None:
    topic = {"name": "t", "num_partitions": 1, "replication_factor": 1}
    await admin.call(ApiKey.CREATE_TOPICS, 5, {"topics": [topic], "timeout": 60_000})


def append(admin: Admin, value: bytes) -> None:
    partition = admin.broker.topics.by_name["t"].partitions[0]
    batch = memoryview(encode_batch([Record(0, 0, None, value)]))
    partition.advance(partition.append(batch, 0, AppendOrigin.COORDINATOR).end)


async def fetched(admin: Admin, offset: int = 0) -> bytes:
    part = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1000}
    answer = await admin.call(
        ApiKey.FETCH, 7,
        {"replica_id": -1, "max_wait": LONG_MS, "min_bytes": 1, "max_bytes": 1000,
         "topics": [{"topic": "t", "partitions": [part]}]},
    )  # fmt: skip
    # Also who gets nothing is told so of each partition: a session's first answer has them all.
    ((found,),) = [topic["partitions"] for topic in answer["responses"]]
    assert found["error_code"] == ErrorCode.NONE
    return bytes(found["records"] or b"")


async def waiting(admin: Admin, offset: int = 0) -> asyncio.Task[bytes]:
    """Return a fetch that has been taken in."""
    task = asyncio.create_task(fetched(admin, offset))
    await asyncio.sleep(0)
    return task


def test_what_comes_after_the_login_is_not_delivered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        async with running(tmp_path) as admin:
            await create(admin)
            now = time()
            log_in(admin, now + LONG_MS)
            first = await waiting(admin)
            append(admin, b"early")
            assert b"early" in await first
            second = await waiting(admin, offset=1)
            monkeypatch.setattr(pull, "time", lambda: now + LONG_MS)
            append(admin, b"late")
            assert await second == b""

    asyncio.run(run())


def test_who_is_logged_out_gets_nothing_more(tmp_path: Path) -> None:
    async def run() -> bytes:
        async with running(tmp_path) as admin:
            await create(admin)
            task = await waiting(admin)
            admin.session.end_login()
            append(admin, b"late")
            return await asyncio.wait_for(task, HUNG_AFTER_S)

    assert asyncio.run(run()) == b""


def test_it_waits_no_longer_than_the_login_lasts(tmp_path: Path) -> None:
    async def run() -> Any:
        async with running(tmp_path) as admin:
            await create(admin)
            log_in(admin, time() + 0.05)
            return await asyncio.wait_for(fetched(admin), HUNG_AFTER_S)

    assert asyncio.run(run()) == b""
