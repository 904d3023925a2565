"""Updates held back until a time limit, against a plain-Python reference, on random records."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.tables_reference import random_tables
from tests.integration.tables_topic import START, run_batch, write_all
from tests.spark_session import spark

from headwater.streams import App, tumbling, until_time_limit
from headwater.testing.topology_driver import TopologyDriver
from headwater.testing.topology_failed import TopologyFailed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.integration.streams_reference import Event

__all__ = ["spark"]

LIMIT, ROOM = 7, 5


class Held:
    """The updates of all keys that wait: Kafka Streams' rules, record by record."""

    def __init__(self, limit: int, room: int | None = None) -> None:
        self._limit = limit
        self._room = room
        self._seen = -1
        self._waiting: dict[str, tuple[int, Event]] = {}

    def of(self, batch: list[Event]) -> dict[str, list[Any]]:
        """Return what a batch of updates gives out, by key."""
        found: dict[str, list[Any]] = {}
        for event in batch:
            if event.key is None:
                continue
            self._seen = max(self._seen, event.time)
            since, _ = self._waiting.get(event.key, (event.time, event))
            self._waiting[event.key] = (since, event)
            for key in sorted(self._waiting, key=lambda each: self._waiting[each][0]):
                passed = self._waiting[key][0] <= self._seen - self._limit
                if passed or (self._room is not None and len(self._waiting) > self._room):
                    given = self._waiting.pop(key)[1]
                    value = None if given.value is None else f'{{"n":{given.value["n"]}}}'
                    found.setdefault(key, []).append((value, given.time))
        return found


def test_the_last_update_comes_when_its_time_is_over(spark: SparkSession) -> None:
    app = App("held")
    table = app.table("a", value_type="n int")
    write_all(
        {
            "time": table.suppress(until_time_limit(f"{LIMIT} seconds")),
            "room": table.suppress(until_time_limit(f"{LIMIT} seconds").max_records(ROOM)),
            "bytes": table.suppress(until_time_limit("1 hour").max_bytes(1)),
        }
    )
    references = {"time": Held(LIMIT), "room": Held(LIMIT, ROOM), "bytes": Held(3600, 0)}
    with TopologyDriver(app, spark) as driver:
        for batch in random_tables(5, ["a"], keys=20, size=200, span=60):
            found = run_batch(driver, batch)
            for name, reference in references.items():
                assert found[name] == reference.of(batch), name


def test_each_window_waits_by_itself(spark: SparkSession) -> None:
    app = App("windows", emit="record")
    windows = app.stream("a", value_type="n int").group_by_key().windowed_by(tumbling("10 seconds"))
    held = windows.count().suppress(until_time_limit("5 seconds"))
    held.to_stream().map_values("count").to("out")
    with TopologyDriver(app, spark) as driver:
        for second in (0, 1, 3, 5, 11, 12, 16):
            at = START + timedelta(seconds=second)
            driver.pipe("a", "k", {"n": 1}, timestamp=at)
        assert [record.value for record in driver.read("out")] == [4, 3]


def test_a_full_buffer_can_end_the_program(spark: SparkSession) -> None:
    app = App("full")
    limit = until_time_limit("1 hour").max_records(2).shut_down_when_full()
    app.table("a", value_type="n int").suppress(limit).to_stream().to("out")
    with TopologyDriver(app, spark) as driver:
        for key in ("one", "two", "two"):
            driver.pipe("a", key, {"n": 1})
        assert driver.read("out") == []
        driver.pipe("a", "three", {"n": 1})
        with pytest.raises(TopologyFailed, match="the buffer of suppress is full: 3 records"):
            driver.run()
