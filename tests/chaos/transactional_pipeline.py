"""A pipeline of killable workers around a killable broker, and the books that it must balance."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import confluent_kafka
from confluent_kafka import Consumer, Producer, TopicPartition
from tests.chaos.transactional_worker import (
    FENCED,
    GROUP,
    INPUT,
    OUTPUT,
    PARTITIONS,
    STUCK,
    Output,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

KEYS = 20
WITHIN_S = 60.0
_REPOSITORY = Path(__file__).parents[2]


class Serving(Protocol):
    """A broker, or a whole cluster, as far as clients are concerned."""

    @property
    def bootstrap_servers(self) -> str: ...


class Feeder:
    """Writes numbered records for each key with one idempotent producer, through every kill."""

    def __init__(self, broker: Serving, per_second: int) -> None:
        self._pause_s = 10 / per_second
        self._producer = Producer(
            {
                "bootstrap.servers": broker.bootstrap_servers,
                "enable.idempotence": True,
                "linger.ms": 1,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 100,
                "message.timeout.ms": 300_000,
                "log_level": 0,
            }
        )
        self.sent: Counter[int] = Counter()
        self.failed: list[object] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join()
        assert self._producer.flush(WITHIN_S) == 0, "the input was not acknowledged"
        assert self.failed == []

    def _run(self) -> None:
        chance = random.Random(1)
        while not self._stopping.wait(self._pause_s):
            for _ in range(10):
                key = chance.randrange(KEYS)
                self._producer.produce(
                    INPUT,
                    b"%d" % self.sent[key],
                    key=bytes([key]),
                    partition=key % PARTITIONS,
                    on_delivery=self._delivered,
                )
                self.sent[key] += 1
            self._producer.poll(0)

    def _delivered(self, error: object, _: object) -> None:
        if error is not None:
            self.failed.append(error)


class Workers:
    """The worker of each partition; whoever is gone is started again."""

    def __init__(self, broker: Serving, chance: random.Random) -> None:
        self._broker = broker
        self._chance = chance
        self._zombies: list[subprocess.Popen[bytes]] = []
        self._current = {partition: self._start(partition) for partition in range(PARTITIONS)}

    def kill_one(self) -> None:
        partition = self._chance.randrange(PARTITIONS)
        self._kill(self._current[partition])
        self._current[partition] = self._start(partition)

    def make_zombie(self) -> None:
        """Freeze a worker and start another in its place; later it wakes up and knows nothing."""
        partition = self._chance.randrange(PARTITIONS)
        self._current[partition].send_signal(signal.SIGSTOP)
        self._zombies.append(self._current[partition])
        self._current[partition] = self._start(partition)

    def wake_zombies(self) -> None:
        for zombie in self._zombies:
            zombie.send_signal(signal.SIGCONT)

    def tend(self) -> None:
        """Start anew whoever has given up, and see that nobody fell over its own feet."""
        for partition, process in self._current.items():
            code = process.poll()
            if code is not None:
                assert code in (FENCED, STUCK), f"a worker ended with {code}"
                self._current[partition] = self._start(partition)
        for zombie in tuple(self._zombies):
            code = zombie.poll()
            if code is not None:
                assert code in (FENCED, STUCK), f"a zombie ended with {code}"
                self._zombies.remove(zombie)

    def stop(self) -> None:
        for process in (*self._current.values(), *self._zombies):
            self._kill(process)

    def _start(self, partition: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.chaos.transactional_worker"),
                *(self._broker.bootstrap_servers, str(partition), str(self._chance.random())),
            ],
            cwd=_REPOSITORY,
            env={**os.environ, "PYTHONPATH": str(_REPOSITORY)},
        )

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()


def wait_until_done(broker: Serving, workers: Workers) -> None:
    """Return when all of the input has been worked off; fail when that does not go on."""
    consumer = _consumer(broker, GROUP)
    places = [TopicPartition(INPUT, partition) for partition in range(PARTITIONS)]
    try:
        ends = {
            place.partition: consumer.get_watermark_offsets(place, WITHIN_S)[1] for place in places
        }
        done, changed = -1, time.monotonic()
        while time.monotonic() - changed < WITHIN_S:
            workers.tend()
            found = consumer.committed(places, WITHIN_S)
            if all(place.offset == ends[place.partition] for place in found):
                return
            if sum(place.offset for place in found) != done:
                done, changed = sum(place.offset for place in found), time.monotonic()
        raise AssertionError(f"the workers are stuck at {found} of {ends}")
    finally:
        consumer.close()


def check_input(broker: Serving, sent: Counter[int]) -> int:
    """Every record of the feeder is there once and in its place; returns how many there are."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for message in _read(broker, INPUT):
        found[message.key()[0]].append(int(message.value()))
    assert {key: len(numbers) for key, numbers in found.items()} == dict(sent)
    for key, numbers in found.items():
        assert numbers == list(range(sent[key])), f"key {key} is not in order"
    return sum(sent.values())


def check_output(broker: Serving) -> None:
    """Every input led to one committed output, whole transactions only, in order for each key."""
    keys = {
        (message.partition(), message.offset()): message.key() for message in _read(broker, INPUT)
    }
    seen: Counter[tuple[int, int]] = Counter()
    parts: defaultdict[str, set[int]] = defaultdict(set)
    totals: dict[str, int] = {}
    last: dict[bytes, int] = {}
    for message in _read(broker, OUTPUT):
        output = Output.parse(message.value())
        source = (output.partition, output.offset)
        seen[source] += 1
        assert message.key() == keys[source]
        assert output.offset > last.get(message.key(), -1), f"{output} is out of order"
        last[message.key()] = output.offset
        parts[output.transaction].add(output.part)
        totals[output.transaction] = output.parts
    lost = keys.keys() - seen.keys()
    assert not lost, f"lost: {sorted(lost)[:10]} and {len(lost)} in all"
    twice = {source for source, count in seen.items() if count > 1}
    assert not twice, f"twice: {sorted(twice)[:10]} and {len(twice)} in all"
    torn = [name for name, found in parts.items() if len(found) != totals[name]]
    assert not torn, f"torn: {torn}"


def _consumer(broker: Serving, group: str) -> Consumer:
    return Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
            "log_level": 0,
        }
    )


def _read(broker: Serving, topic: str) -> Iterator[confluent_kafka.Message]:
    consumer = _consumer(broker, "not-joined")
    try:
        for partition in range(PARTITIONS):
            consumer.assign([TopicPartition(topic, partition, 0)])
            while True:
                message = consumer.poll(WITHIN_S)
                assert message is not None, f"{topic}-{partition} cannot be read to its end"
                if message.error() is None:
                    yield message
                    continue
                assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF
                break
    finally:
        consumer.close()
