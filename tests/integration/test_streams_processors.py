"""Processors of users' own: every kind of store, timers in event time, time to live, topologies."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.spark_session import one_partition, spark

from headwater.streams import App, Processor, ProcessorContext, Record
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from headwater.testing.topology_driver import OutputRecord

__all__ = ["one_partition", "spark"]

START = datetime(2026, 1, 1, tzinfo=UTC)
KEYS = ("a", "b", "c")


class Summing(Processor):
    """Keeps a sum, the last three values and how often each one came; tells all of it."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.sum = context.value_store("sum", "total bigint, latest timestamp")
        self.last = context.list_store("last", "bigint")
        self.often = context.map_store("often", "bigint", "bigint")

    def process(self, record: Record) -> None:
        n = record.value["n"]
        total = (self.sum.get() or {"total": 0})["total"] + n
        self.sum.put({"total": total, "latest": record.timestamp})
        self.last.append(n)
        if len(self.last.all()) > 3:
            self.last.put(self.last.all()[1:])
        self.often.put(n, (self.often.get(n) or 0) + 1)
        if n == 0:
            self.sum.delete()
            self.last.delete()
            for each, _ in self.often.items():
                self.often.delete(each)
        often = sorted([{"n": each, "times": times} for each, times in self.often.items()], key=str)
        self.context.forward({"total": total, "last": self.last.all(), "often": often})


class Quiet(Processor):
    """Tells ten seconds after the last record of a key how many there were."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.count = context.value_store("count", "bigint")
        self.until = context.value_store("until", "timestamp")
        self.seen = context.value_store("seen", "boolean", ttl="4 seconds")

    def process(self, record: Record) -> None:
        self.count.put((self.count.get() or 0) + 1)
        until = record.timestamp + timedelta(seconds=10)
        self.until.put(until)
        self.context.schedule(until)
        if self.seen.get() is None:
            self.context.forward(-1, key=f"{record.key}-new")
            self.seen.put(True)

    def punctuate(self, key: Any, at: datetime) -> None:
        if self.until.get() == at:
            self.context.forward(self.count.get(), key=key)
            self.count.delete()


class Doubling(Processor):
    def process(self, record: Record) -> None:
        self.context.forward(record.value["n"] * 2)


def test_stores_of_every_kind_and_topologies_by_hand(
    spark: SparkSession, one_partition: None
) -> None:
    app = App("processors")
    topology = app.topology()
    topology.add_source("numbers", "numbers", value_type="n bigint")
    topology.add_source("more", "more", value_type="n bigint")
    told = "total bigint, last array<bigint>, often array<struct<n:bigint,times:bigint>>"
    topology.add_processor("summing", Summing, "numbers", returns=("string", told))
    topology.add_processor("doubling", Doubling, "numbers", "more", returns=("string", "bigint"))
    topology.add_sink("sums", "sums", "summing")
    topology.add_sink("doubled", "doubled", "doubling")
    choice = random.Random(1)
    state: dict[str, list[int]] = defaultdict(list)
    totals: dict[str, int] = defaultdict(int)
    with TopologyDriver(app, spark) as driver:
        for _ in range(2):
            expected: dict[str, list[Any]] = defaultdict(list)
            doubled: dict[str, list[int]] = defaultdict(list)
            for _ in range(60):
                key, n = choice.choice(KEYS), choice.randrange(6)
                at = START + timedelta(seconds=choice.randrange(100))
                driver.pipe("numbers", key, {"n": n}, timestamp=at)
                state[key].append(n)
                totals[key] += n
                total = totals[key]
                if n == 0:
                    state[key], totals[key] = [], 0
                often = [
                    {"n": each, "times": state[key].count(each)} for each in sorted({*state[key]})
                ]
                expected[key].append({"total": total, "last": state[key][-3:], "often": often})
                doubled[key].append(n * 2)
            assert _by_key(driver.read("sums")) == expected
            assert _by_key(driver.read("doubled")) == doubled


def test_time_is_that_of_records(spark: SparkSession, one_partition: None) -> None:
    app = App("timers")
    numbers = app.stream("numbers", value_type="n bigint")
    numbers.process(Quiet, returns=("string", "bigint"), name="quiet").to("quiet")
    tripled = numbers.transform_values(Doubling, returns="bigint").map_values("value + 1")
    tripled.to("odd")
    with TopologyDriver(app, spark) as driver:
        for second, key in ((0, "a"), (3, "a"), (5, "b"), (8, "a")):
            at = START + timedelta(seconds=second)
            driver.pipe("numbers", key, {"n": second}, timestamp=at)
        # The store has forgotten after four seconds that it has seen a.
        assert _times(driver.read("quiet")) == [
            ("a-new", -1, 0), ("a-new", -1, 8), ("b-new", -1, 5),
        ]  # fmt: skip
        assert sorted(record.value for record in driver.read("odd")) == [1, 7, 11, 17]
        driver.pipe("numbers", "c", {"n": 1}, timestamp=START + timedelta(seconds=16))
        assert _times(driver.read("quiet")) == [("b", 1, 15), ("c-new", -1, 16)]
        driver.pipe("numbers", "c", {"n": 1}, timestamp=START + timedelta(seconds=19))
        assert _times(driver.read("quiet")) == [("a", 3, 18)]


def _by_key(records: list[OutputRecord]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for record in records:
        found[record.key].append(record.value)
    return found


def _times(records: list[OutputRecord]) -> list[tuple[str, int, int]]:
    """Return keys, values and seconds; there is no order among keys."""
    return sorted(
        (record.key, record.value, round((record.timestamp - START).total_seconds()))
        for record in records
    )
