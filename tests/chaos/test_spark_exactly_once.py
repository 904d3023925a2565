"""A pipeline on Spark through kills of its driver, its Python workers and the broker."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections import defaultdict
from typing import TYPE_CHECKING

import psutil
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import NewTopic
from tests.chaos.driver_process import DriverProcess
from tests.chaos.seeds import seeds
from tests.effort import often
from tests.integration.spark_sink_pipeline import Topics, read_committed
from tests.kafka_process import KafkaProcess
from tests.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.broker_process import BrokerProcess
    from tests.conftest import StartBroker

pytestmark = [pytest.mark.chaos, pytest.mark.needs("java"), pytest.mark.timeout(1200)]

# A driver needs some ten seconds to come back, the others one; of Kafka's nodes see below.
KILLS = {
    "broker": often(3, in_soak=12),
    "driver": often(1, in_soak=4),
    "worker": often(3, in_soak=16),
}
# A worker does not know which broker it is.
FEW_KILLS = {"broker": 1, "driver": 1}
# Of each of these logs, a node that was killed looks at all fifty before it goes on.
SMALL_KAFKA = {"offsets.topic.num.partitions": "3", "transaction.state.log.num.partitions": "3"}
BATCH_WITHIN_S = 180.0
DONE_WITHIN_S = 300.0
KEYS = 20
# A key has a record in every second of event time, which begins two hours ago and ends, for those
# who wait for a partner, after an hour and a half: Kafka takes no record of the future.
EVERY_MS = 1_000 // KEYS
START_MS = time.time_ns() // 1_000_000 - 2 * 3_600_000
END = 5_400 * KEYS
PAIRS = "pairs"


@pytest.mark.parametrize("seed", seeds(1))
def test_every_record_is_committed_once(
    start_broker: StartBroker, tmp_path: Path, seed: int
) -> None:
    check_through_kills(start_broker(), tmp_path, KILLS, seed)


@pytest.mark.parametrize("seed", seeds(1))
def test_every_record_is_committed_once_on_apache_kafka(tmp_path: Path, seed: int) -> None:
    # A node of Kafka needs seconds to come back, so there are few kills; more by hand, by seeds.
    kafka = KafkaProcess(tmp_path / "kafka", SMALL_KAFKA).start()
    try:
        check_through_kills(kafka, tmp_path, FEW_KILLS, seed)
    finally:
        kafka.kill()


def check_through_kills(
    broker: BrokerProcess, tmp_path: Path, counts: Mapping[str, int], seed: int
) -> None:
    """Copy a topic while its parts are killed, and compare input and committed output."""
    chance = random.Random(seed)
    topics = Topics(broker.bootstrap_servers)
    topics.admin.create_topics([NewTopic(PAIRS, 2, 1)])[PAIRS].result(BATCH_WITHIN_S)
    kills = [kind for kind, count in counts.items() for _ in range(count)]
    chance.shuffle(kills)
    with Driver(topics, tmp_path / "checkpoint") as driver:
        with feeding(topics) as fed:
            for kind in kills:
                driver.wait_for_line("batch")
                # Anywhere in a batch, or between two.
                time.sleep(chance.random() * 0.5)
                _kill(kind, broker, driver, chance)
        expected = _pairs(fed)
        # Before time goes on, so that none of them comes too late for its partner.
        driver.wait_for_records(PAIRS, sum(b" " in value for _, value in expected))
        _end_waiting(topics, fed)
        count = sum(map(len, fed.values()))
        written = driver.wait_for_records(topics.output, count)
        pairs = driver.wait_for_records(PAIRS, len(expected))
    assert len(written) == count, driver.text
    by_key: dict[bytes, list[bytes]] = defaultdict(list)
    for key, value in written:
        by_key[key].append(value)
    assert by_key == fed
    assert sorted(pairs) == sorted(expected), driver.text


def _pairs(fed: Mapping[bytes, list[bytes]]) -> list[tuple[bytes, bytes]]:
    """What a key's records make with every fourth, which are at most a second away, or alone."""
    pairs = []
    for key, values in fed.items():
        seconds = {int(value) // KEYS: value for value in values}
        for second, value in seconds.items():
            if second % 4:
                near = (seconds.get(each) for each in (second - 1, second + 1) if each % 4 == 0)
                met = [b"%s %s" % (value, other) for other in near if other is not None]
                pairs += [(key, pair) for pair in met or [value]]
    return pairs


class Driver(DriverProcess):
    """The driver's process and its Python workers."""

    def __init__(self, topics: Topics, checkpoint: Path) -> None:
        super().__init__(
            "tests.chaos.exactly_once_driver",
            topics.servers,
            topics.input,
            topics.output,
            PAIRS,
            str(checkpoint),
        )
        self._topics = topics

    def wait_for_records(self, topic: str, count: int) -> list[tuple[bytes, bytes]]:
        """All committed records, once there are as many as that; if there are more, more."""
        deadline = time.monotonic() + DONE_WITHIN_S
        while True:
            messages = read_committed(self._topics.servers, topic)
            if len(messages) >= count or time.monotonic() > deadline:
                return [(message.key() or b"", message.value() or b"") for message in messages]
            # All of it is read again.
            time.sleep(1)

    def workers(self) -> list[psutil.Process]:
        """The Python processes behind Spark's tasks; after a kill, those that take their place."""
        driver = psutil.Process(self.pid)
        return wait_for(
            lambda: [child for child in driver.children(recursive=True) if _is_worker(child)],
            lambda: f"a worker:\n{self.text}",
            within_s=BATCH_WITHIN_S,
        )


@contextlib.contextmanager
def feeding(topics: Topics) -> Iterator[dict[bytes, list[bytes]]]:
    """Numbered records for each key, all the time, through every kill of the broker."""
    fed: dict[bytes, list[bytes]] = defaultdict(list)
    refused: list[object] = []
    stopping = threading.Event()
    producer = Producer(
        {
            "bootstrap.servers": topics.servers,
            "enable.idempotence": True,
            "linger.ms": 5,
            "message.timeout.ms": 300_000,
            "reconnect.backoff.max.ms": 200,
            "log_level": 0,
        }
    )

    def feed() -> None:
        number = 0
        while not stopping.wait(0.05):
            _send(producer, topics, number, fed, refused)
            number += 1

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    try:
        yield fed
    finally:
        stopping.set()
        thread.join()
    assert producer.flush(BATCH_WITHIN_S) == 0, "the input was not acknowledged"
    assert refused == []


def _end_waiting(topics: Topics, fed: dict[bytes, list[bytes]]) -> None:
    """Send one record of each key so late that nobody before it has to wait any longer."""
    refused: list[object] = []
    producer = Producer({"bootstrap.servers": topics.servers, "log_level": 0})
    for number in range(END, END + KEYS):
        _send(producer, topics, number, fed, refused)
    assert producer.flush(BATCH_WITHIN_S) == 0, "the last records were not acknowledged"
    assert refused == []


def _send(
    producer: Producer,
    topics: Topics,
    number: int,
    fed: dict[bytes, list[bytes]],
    refused: list[object],
) -> None:
    key = b"%d" % (number % KEYS)
    producer.produce(
        topics.input,
        b"%d" % number,
        key=key,
        partition=number % KEYS % 4,
        timestamp=START_MS + number * EVERY_MS,
        on_delivery=lambda error, _: refused.append(error) if error else None,
    )
    fed[key].append(b"%d" % number)
    producer.poll(0)


def _kill(kind: str, broker: BrokerProcess, driver: Driver, chance: random.Random) -> None:
    driver.note(f"killing the {kind}")
    if kind == "driver":
        driver.kill()
        driver.start()
    elif kind == "broker":
        broker.kill()
        broker.start()
    else:
        with contextlib.suppress(psutil.NoSuchProcess):
            chance.choice(driver.workers()).kill()


def _is_worker(process: psutil.Process) -> bool:
    try:
        return any("pyspark.daemon" in word for word in process.cmdline())
    except psutil.NoSuchProcess:
        return False
