"""SIGKILL under appends: what was acknowledged is there once, in order, and nothing else is."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import TYPE_CHECKING

import pytest
from tests.chaos.ledger import Ledger
from tests.chaos.load import AppendingWriter
from tests.chaos.reading import read_values
from tests.chaos.seeds import seeds
from tests.effort import often
from tests.integration.raw_client import RawClient
from tests.integration.raw_requests import create_topic

if TYPE_CHECKING:
    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker
    from tests.integration.raw_requests import Topic

pytestmark = pytest.mark.chaos

KILLS_PER_SEED = often(5, in_soak=12)
PARTITIONS = 3
WRITERS = 2


@pytest.mark.parametrize("flush", ["fsync", "os"])
@pytest.mark.parametrize("seed", seeds(2))
def test_kill_under_load(start_broker: StartBroker, seed: int, flush: str) -> None:
    chance = random.Random(f"{seed} {flush}")
    broker = start_broker(
        {
            "flush": flush,
            "log.flush.offset.checkpoint.interval.ms": "100",
            # So small that its files are used again and again.
            "headwater.journal.bytes": "1048576",
        }
    )
    ledger = Ledger()
    with RawClient(broker) as client:
        topic = create_topic(
            client,
            "chaos",
            PARTITIONS,
            {"internal.segment.bytes": "200000", "segment.index.bytes": "4096"},
        )
    for _ in range(KILLS_PER_SEED):
        writers = [
            AppendingWriter(
                broker,
                chance,
                ledger=ledger,
                number=number,
                topic=topic.name,
                partitions=PARTITIONS,
            )
            for number in range(WRITERS)
        ]
        for writer in writers:
            writer.start()
        for writer in writers:
            assert writer.started.wait(60), f"nothing was acknowledged:\n{broker.text}"
        time.sleep(chance.uniform(0, 0.25))  # the moment of death, not a synchronisation
        if chance.random() < 0.3:
            # It dies while it stops.
            os.kill(broker.pid, signal.SIGTERM)
            time.sleep(chance.uniform(0, 0.1))
        broker.kill()
        for writer in writers:
            writer.stop()
        start_again(broker, chance)
        check(broker, topic, ledger)
    check(broker, topic, ledger, from_the_beginning=True)
    broker.restart()
    check(broker, topic, ledger, from_the_beginning=True)
    assert ledger.acknowledged > KILLS_PER_SEED
    assert broker.orphans() == []


def start_again(broker: BrokerProcess, chance: random.Random) -> None:
    """Start, and now and then kill the recovery itself as well."""
    while chance.random() < 0.2:
        broker.launch()
        time.sleep(chance.uniform(0, 0.5))
        broker.kill()
    broker.start()


def check(
    broker: BrokerProcess, topic: Topic, ledger: Ledger, *, from_the_beginning: bool = False
) -> None:
    for partition in range(PARTITIONS):
        start = 0 if from_the_beginning else max(0, ledger.end(partition) - 100)
        ledger.check(partition, start, read_values(broker, topic, partition, start))
