"""SIGKILL under compaction: the log always adds up to the same dictionary."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest
from tests.chaos.keyed_ledger import KeyedLedger
from tests.chaos.load import KeyedWriter
from tests.chaos.reading import read_changes
from tests.chaos.seeds import seeds
from tests.effort import often
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import create_topic

if TYPE_CHECKING:
    from tests.conftest import StartBroker

pytestmark = pytest.mark.chaos

KILLS_PER_SEED = often(5, in_soak=10)
CLEANER = {"log.cleaner.backoff.ms": "10", "log.segment.delete.delay.ms": "50"}
COMPACTED = {
    "cleanup.policy": "compact",
    "internal.segment.bytes": "20000",
    "segment.index.bytes": "4096",
    "min.cleanable.dirty.ratio": "0.01",
    "delete.retention.ms": "100",
}


@pytest.mark.parametrize("seed", seeds(2))
def test_kill_while_compacting(start_broker: StartBroker, seed: int) -> None:
    chance = random.Random(seed)
    broker = start_broker({**CLEANER, "flush": chance.choice(["fsync", "os"])})
    ledger = KeyedLedger()
    with RawClient(broker) as client:
        topic = create_topic(client, "chaos", configs=COMPACTED)
    for _ in range(KILLS_PER_SEED):
        writer = KeyedWriter(
            broker, chance, ledger=ledger, topic=topic.name, keys=chance.choice([3, 50, 500])
        )
        writer.start()
        assert writer.started.wait(60), f"nothing was acknowledged:\n{broker.text}"
        time.sleep(chance.uniform(0, 0.5))  # the moment of death, not a synchronisation
        broker.kill()
        writer.stop()
        broker.start()
        ledger.check(read_changes(broker, topic))
    broker.restart()
    # On a busy machine no pass may have lived to its end so far; nobody kills this one.
    assert broker.says("compacted offsets", within_s=120), "no compaction took place"
    found = read_changes(broker, topic)
    ledger.check(found)
    assert len(found) < ledger.acknowledged
    assert broker.orphans() == []
