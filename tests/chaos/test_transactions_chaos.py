"""Consume, transform, produce: exactly once, whoever is killed meanwhile."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from tests.chaos.seeds import seeds
from tests.chaos.transactional_pipeline import (
    Feeder,
    Workers,
    check_input,
    check_output,
    wait_until_done,
)
from tests.chaos.transactional_worker import INPUT, OUTPUT, PARTITIONS
from tests.effort import often

if TYPE_CHECKING:
    from tests.conftest import StartBroker

BROKER_KILLS = often(8, in_soak=30)
WORKER_KILLS = often(16, in_soak=64)
ZOMBIES = often(4, in_soak=10)

SMALL = {
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "log.segment.bytes": "1048576",
}

pytestmark = pytest.mark.chaos


@pytest.mark.parametrize("seed", seeds(1))
def test_every_record_counts_once(start_broker: StartBroker, seed: int) -> None:
    chance = random.Random(seed)
    broker = start_broker(SMALL)
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers, "log_level": 0})
    topics = [NewTopic(name, PARTITIONS, 1) for name in (INPUT, OUTPUT)]
    for future in admin.create_topics(topics).values():
        future.result(30)

    feeder = Feeder(broker, per_second=600)
    workers = Workers(broker, chance)
    try:
        kills = ["broker"] * BROKER_KILLS + ["worker"] * WORKER_KILLS + ["zombie"] * ZOMBIES
        chance.shuffle(kills)
        for victim in kills:
            time.sleep(chance.expovariate(5))
            if victim == "broker":
                broker.kill()
                broker.start()
            elif victim == "worker":
                workers.kill_one()
            else:
                workers.make_zombie()
            if chance.random() < 0.3:
                workers.wake_zombies()
            workers.tend()
        feeder.stop()
        workers.wake_zombies()
        wait_until_done(broker, workers)
    finally:
        workers.stop()
    assert check_input(broker, feeder.sent) > 500
    check_output(broker)
    broker.stop()
