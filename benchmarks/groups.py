"""Consumer groups: how fast they settle and recover, and how steadily many of them beat."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from headwater.protocol import messages
from headwater.protocol.api_keys import ApiKey
from headwater.protocol.errors import ErrorCode
from headwater.protocol.frames import response_header

if TYPE_CHECKING:
    from collections.abc import Callable

MEMBERS = 8
PARTITIONS = 64
SESSION_TIMEOUT_MS = 6000

GROUPS = 200
MEMBERS_PER_GROUP = 10
STEADY_S = 20.0
HEARTBEAT_EVERY_S = 3.0
COMMIT_EVERY_S = 5.0


class Beats(NamedTuple):
    """How long heartbeats and commits took, in milliseconds."""

    p99: float
    longest: float


class _Member(threading.Thread):
    """One consumer that polls in its own thread and knows what it has been given."""

    def __init__(self, bootstrap_servers: str, topic: str, group: str) -> None:
        super().__init__(daemon=True)
        self.assigned = 0
        self.stopped = False
        self._topic = topic
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "group.id": group,
                "heartbeat.interval.ms": 200,
                "session.timeout.ms": SESSION_TIMEOUT_MS,
            }
        )

    def run(self) -> None:
        self._consumer.subscribe([self._topic])
        while not self.stopped:
            self._consumer.poll(0.02)
            self.assigned = len(self._consumer.assignment())
        self._consumer.close()


class Moves(NamedTuple):
    """How long a group took to share its partitions anew, in seconds."""

    together: float
    """After all members had started at once."""
    last_join: float
    """After the last member had joined seven that had settled."""
    recovery: float
    """After the session of a killed member had ended."""


def settle_and_recover(bootstrap_servers: str) -> Moves:
    """Let 8 members share 64 partitions, kill one, let another join, and time each move."""
    topic, group = "shared", "settling"
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result()
    members = [_Member(bootstrap_servers, topic, group) for _ in range(MEMBERS - 1)]
    for member in members:
        member.start()
    victim, together = _join_and_share(bootstrap_servers, topic, group, members)
    victim.kill()
    victim.wait()
    killed = time.perf_counter()
    _until(lambda: sum(member.assigned for member in members) == PARTITIONS)
    recovery = time.perf_counter() - killed - SESSION_TIMEOUT_MS / 1000
    # librdkafka lets a second pass between two joins of one consumer.
    time.sleep(2)
    last, last_join = _join_and_share(bootstrap_servers, topic, group, members)
    last.kill()
    last.wait()
    for member in members:
        member.stopped = True
    for member in members:
        member.join()
    return Moves(together, last_join, max(0.0, recovery))


def _join_and_share(
    bootstrap_servers: str, topic: str, group: str, members: list[_Member]
) -> tuple[subprocess.Popen[bytes], float]:
    """Start the eighth member in a process that can be killed, and wait until all have a share."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.groups", bootstrap_servers, topic, group],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()  # it is about to join
    started = time.perf_counter()
    share = PARTITIONS // MEMBERS
    _until(lambda: all(member.assigned == share for member in members))
    return process, time.perf_counter() - started


def beat(port: int) -> Beats:
    """Let 200 groups of 10 members heartbeat and commit over the raw protocol for a while."""
    return asyncio.run(_beat(port))


async def _beat(port: int) -> Beats:
    admin = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
    admin.create_topics([NewTopic("beaten", MEMBERS_PER_GROUP, 1)])["beaten"].result()
    taken: list[float] = []
    steady = asyncio.Event()
    members = [
        _RawMember(port, f"group-{group}", number, steady, taken)
        for group in range(GROUPS)
        for number in range(MEMBERS_PER_GROUP)
    ]
    tasks = [asyncio.create_task(member.run()) for member in members]
    while not all(member.is_stable for member in members):
        await asyncio.sleep(0.2)
        for task in tasks:
            if task.done():
                task.result()
    await asyncio.sleep(HEARTBEAT_EVERY_S * 2)
    steady.set()
    await asyncio.sleep(STEADY_S)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    taken.sort()
    return Beats(taken[int(len(taken) * 0.99)], taken[-1])


class _RawMember:
    """A member that joins, heartbeats and commits, and does nothing else."""

    def __init__(
        self, port: int, group: str, number: int, steady: asyncio.Event, taken: list[float]
    ) -> None:
        self.is_stable = False
        self._port = port
        self._number = number
        self._steady = steady
        self._taken = taken
        self._identity: dict[str, Any] = {"group_id": group, "member_id": "", "generation_id": -1}

    async def run(self) -> None:
        self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        await self._join()
        await asyncio.sleep(random.uniform(0, HEARTBEAT_EVERY_S))
        next_commit = time.perf_counter() + random.uniform(0, COMMIT_EVERY_S)
        while True:
            answer = await self._timed(ApiKey.HEARTBEAT, 3, self._identity)
            if answer.error_code == ErrorCode.REBALANCE_IN_PROGRESS:
                self.is_stable = False
                await self._join()
            if time.perf_counter() >= next_commit:
                next_commit += COMMIT_EVERY_S
                await self._commit()
            await asyncio.sleep(HEARTBEAT_EVERY_S)

    async def _join(self) -> None:
        while True:
            joined = await self._call(
                ApiKey.JOIN_GROUP,
                3,
                {
                    "group_id": self._identity["group_id"],
                    "session_timeout_ms": 30_000,
                    "rebalance_timeout_ms": 30_000,
                    "member_id": self._identity["member_id"],
                    "protocol_type": "consumer",
                    "protocols": [{"name": "range", "metadata": b""}],
                },
            )
            if joined.error_code in (
                ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
                ErrorCode.NOT_COORDINATOR,
                ErrorCode.COORDINATOR_NOT_AVAILABLE,
            ):
                await self._call(ApiKey.FIND_COORDINATOR, 0, {"key": self._identity["group_id"]})
                await asyncio.sleep(0.2)
                continue
            assert joined.error_code == ErrorCode.NONE, joined
            self._identity["member_id"] = joined.member_id
            self._identity["generation_id"] = joined.generation_id
            assignments = [
                {"member_id": member.member_id, "assignment": b""} for member in joined.members
            ]
            synced = await self._call(
                ApiKey.SYNC_GROUP, 2, {**self._identity, "assignments": assignments}
            )
            if synced.error_code == ErrorCode.NONE:
                self.is_stable = True
                return

    async def _commit(self) -> None:
        offset = {
            "partition_index": self._number,
            "committed_offset": int(time.time()),
            "committed_metadata": "",
        }
        topics = [{"name": "beaten", "partitions": [offset]}]
        await self._timed(
            ApiKey.OFFSET_COMMIT,
            6,
            {
                "group_id": self._identity["group_id"],
                "member_id": self._identity["member_id"],
                "generation_id_or_member_epoch": self._identity["generation_id"],
                "topics": topics,
            },
        )

    async def _timed(self, api_key: ApiKey, version: int, tree: dict[str, Any]) -> Any:
        started = time.perf_counter()
        answer = await self._call(api_key, version, tree)
        if self._steady.is_set():
            self._taken.append((time.perf_counter() - started) * 1000)
        return answer

    async def _call(self, api_key: ApiKey, version: int, tree: dict[str, Any]) -> Any:
        body = messages.encode_request(api_key, version, tree)
        header = api_key.to_bytes(2, "big") + version.to_bytes(2, "big") + bytes(4) + b"\xff\xff"
        frame = header + body
        self._writer.write(len(frame).to_bytes(4, "big") + frame)
        size = int.from_bytes(await self._reader.readexactly(4), "big")
        answer = memoryview(await self._reader.readexactly(size))
        start = len(response_header(api_key, version, 0))
        return messages.decode_response(api_key, version, answer, start)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("the group did not settle within two minutes")
        time.sleep(0.005)


if __name__ == "__main__":
    last = _Member(*sys.argv[1:4])
    print("joining", flush=True)
    last.run()
