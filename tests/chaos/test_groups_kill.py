"""SIGKILL while groups commit, join and leave: no acknowledged commit is lost, none comes back."""

from __future__ import annotations

import random
import threading
import time
from typing import TYPE_CHECKING

import pytest
from kio.schema.errors import ErrorCode
from tests.chaos.seeds import seeds
from tests.effort import often
from tests.integration.raw_client import ConnectionClosedError, RawClient
from tests.integration.raw_groups import (
    QUICK,
    commit,
    committed,
    find_coordinator,
    heartbeat,
    join,
    stable_member,
)
from tests.integration.raw_requests import create_topic
from tests.waiting import wait_for

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

pytestmark = pytest.mark.chaos

KILLS_PER_SEED = often(4, in_soak=8)
GROUPS = 6
PARTITIONS = 3

# Small segments and an eager cleaner: what is read after a kill has been compacted, or half so.
COMPACTED = {
    "log.roll.ms": "200",
    "log.cleaner.backoff.ms": "50",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "log.flush.offset.checkpoint.interval.ms": "100",
}


class Committer(threading.Thread):
    """Commits ever larger offsets for a group of its own, until the broker dies."""

    def __init__(self, broker: BrokerProcess, number: int, before: Committer | None) -> None:
        super().__init__(daemon=True)
        self.broker = broker
        self.number = number
        self.group = f"group-{number}"
        self.first = 1 if before is None else max(before.sent.values()) + 1
        self.sent: dict[int, int] = dict.fromkeys(range(PARTITIONS), self.first - 1)
        self.acknowledged: dict[int, int] = {} if before is None else dict(before.acknowledged)
        self.member: str = "" if before is None else before.member
        self.generation: int = -1 if before is None else before.generation
        self.started = threading.Event()

    def run(self) -> None:
        try:
            with RawClient(self.broker) as client:
                self._commit_for_ever(client)
        except (ConnectionError, ConnectionClosedError, TimeoutError):
            return  # It died, as it should.

    def _commit_for_ever(self, client: RawClient) -> None:
        self._become_member(client)
        offset = self.first
        while True:
            self.sent = dict.fromkeys(range(PARTITIONS), offset)
            errors = commit(
                client,
                self.group,
                {("chaos", partition): offset for partition in range(PARTITIONS)},
                member=self.member,
                generation=self.generation,
            )
            assert set(errors.values()) == {ErrorCode.none}, errors
            self.acknowledged = dict(self.sent)
            self.started.set()
            offset += 1

    def _become_member(self, client: RawClient) -> None:
        """Every third group has no members; those of the others survive each death."""
        if self.number % 3 == 0:
            return
        if not self.member:
            joined = stable_member(client, self.group, session_ms=60_000)
            self.member, self.generation = joined.member_id, joined.generation_id
        assert heartbeat(client, self.group, self.member, self.generation) is ErrorCode.none


@pytest.mark.parametrize("flush", ["fsync", "os"])
@pytest.mark.parametrize("seed", seeds(2))
def test_commits_survive(start_broker: StartBroker, seed: int, flush: str) -> None:
    chance = random.Random(f"{seed} {flush}")
    broker = start_broker({**QUICK, **COMPACTED, "flush": flush})
    with RawClient(broker) as client:
        create_topic(client, "chaos", PARTITIONS)
        find_coordinator(client)
    committers: list[Committer | None] = [None] * GROUPS
    for _ in range(KILLS_PER_SEED):
        running = [Committer(broker, number, before) for number, before in enumerate(committers)]
        for committer in running:
            committer.start()
        for committer in running:
            assert committer.started.wait(60), f"nothing was acknowledged:\n{broker.text}"
        time.sleep(chance.uniform(0, 0.5))  # the moment of death, not a synchronisation
        broker.kill()
        for committer in running:
            committer.join(60)
        broker.start()
        _check(broker, running)
        committers = list(running)


def _check(broker: BrokerProcess, committers: list[Committer]) -> None:
    with RawClient(broker) as client:
        wait_for(
            lambda: client.call("list_groups", 5).error_code,
            until=lambda code: code is ErrorCode.none,
        )
        for committer in committers:
            found = committed(client, committer.group, None)
            for partition in range(PARTITIONS):
                offset = found["chaos", partition].committed_offset
                acknowledged, sent = committer.acknowledged[partition], committer.sent[partition]
                assert acknowledged <= offset <= sent, (committer.group, partition)
            if committer.member:
                again = join(client, committer.group, committer.member)
                assert again.error_code is ErrorCode.none, again
                committer.generation = again.generation_id
                _settle(client, committer)


def _settle(client: RawClient, committer: Committer) -> None:
    answer = client.call(
        "sync_group",
        5,
        group_id=committer.group,
        member_id=committer.member,
        generation_id=committer.generation,
        protocol_type="consumer",
        protocol_name="range",
        assignments=[{"member_id": committer.member, "assignment": b"all"}],
    )
    assert answer.error_code is ErrorCode.none, answer
