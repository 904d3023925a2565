"""A join in real-time mode through kills of its driver and of the broker."""

from __future__ import annotations

import json
import random
import threading
import time
from typing import TYPE_CHECKING

import pytest
from tests.chaos.driver_process import DriverProcess
from tests.chaos.seeds import seeds
from tests.integration.spark_sink_pipeline import read_committed
from tests.integration.streams_topics import Topics
from tests.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import StartBroker

pytestmark = [pytest.mark.chaos, pytest.mark.needs("java"), pytest.mark.timeout(1200)]

KEYS = 20
READINGS, UNITS, OUTPUT = "readings", "units", "output"


@pytest.mark.parametrize("seed", seeds(1))
def test_nothing_is_lost_and_nobody_meets_a_table_of_before(
    start_broker: StartBroker, tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    broker = start_broker()
    topics = Topics(broker.bootstrap_servers)
    topics.create(READINGS, UNITS)
    feed = _Feed(topics)
    feed.next_version()
    arguments = (topics.servers, READINGS, UNITS, OUTPUT, str(tmp_path / "checkpoint"))
    with DriverProcess("tests.chaos.real_time_driver", *arguments) as driver, feed:
        _wait_for(driver, "real-time")
        broker.kill()
        broker.start()
        for state in ("real-time", "catching up"):
            _wait_for(driver, state, "real-time")
            # Anywhere in a batch, or between two.
            time.sleep(chance.random())
            driver.kill()
            driver.note("state killed")
            feed.next_version()
            driver.start()
        _wait_for(driver, "real-time")
        numbers = feed.stop()
        found = wait_for(
            lambda: _numbers_in(topics),
            lambda: driver.text,
            until=lambda found: len(found) == len(numbers),
        )
    assert found == numbers
    for message in read_committed(topics.servers, OUTPUT):
        value = json.loads(message.value() or b"")
        assert value.get("met", -1) >= value["wanted"], (value, driver.text)


def _wait_for(driver: DriverProcess, *states: str) -> None:
    wait_for(
        lambda: driver.last("state").strip(),
        lambda: driver.text,
        until=lambda said: said.removeprefix("state ") in states,
    )


def _numbers_in(topics: Topics) -> set[int]:
    return {
        json.loads(message.value() or b"")["number"]
        for message in read_committed(topics.servers, OUTPUT)
    }


class _Feed:
    """Numbered readings all the time, each with the table's version that it has to meet."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._version = 0
        self._numbers: set[int] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def next_version(self) -> None:
        """Set the whole table, and go on with readings that must meet it."""
        for key in range(KEYS):
            self._topics.produce(UNITS, str(key), {"version": self._version + 1})
        self._topics.flush()
        self._version += 1

    def stop(self) -> set[int]:
        """End, and return the numbers of all readings once the broker has them."""
        self._stopping.set()
        self._thread.join()
        self._topics.flush()
        return self._numbers

    def _feed(self) -> None:
        while not self._stopping.wait(0.02):
            number = len(self._numbers)
            value = {"number": number, "version": self._version}
            self._topics.produce(READINGS, str(number % KEYS), value)
            self._numbers.add(number)
