"""Processors of users' own: every kind of store, timers in event time, time to live, topologies."""

from __future__ import annotations

import random
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.integration.streams_topics import Topics, app_of, topics
from tests.spark_session import one_partition, spark

from headwater.spark.jobs.job import Job
from headwater.streams import App, Processor, ProcessorContext, PunctuationType, Record
from headwater.testing.topology_driver import TopologyDriver

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.testing.topology_driver import OutputRecord

__all__ = ["one_partition", "spark", "topics"]

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


class Total(Processor):
    """Adds up the values that a key ever had, and deletes it when it is deleted."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.total = context.value_store("total", "bigint")

    def process(self, record: Record) -> None:
        if record.value is None:
            self.context.forward(None)
            return
        self.total.put((self.total.get() or 0) + record.value["n"])
        self.context.forward(self.total.get())


class Overdue(Processor):
    """Tells of a key five seconds after its last record came, and forgets it after twenty."""

    punctuation_type = PunctuationType.WALL_CLOCK_TIME

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.due = context.value_store("due", "timestamp")
        self.seen = context.value_store("seen", "bigint", ttl="20 seconds")

    def process(self, record: Record) -> None:
        due = self.context.system_time + timedelta(seconds=5)
        self.due.put(due)
        self.seen.put((self.seen.get() or 0) + 1)
        self.context.schedule(due)

    def punctuate(self, key: Any, at: datetime) -> None:
        if self.due.get() == at:
            self.context.forward(self.seen.get(), key=f"{key}-overdue")


class Reminding(Processor):
    """Says at once that it has heard, and again so many milliseconds later."""

    punctuation_type = PunctuationType.WALL_CLOCK_TIME

    def process(self, record: Record) -> None:
        self.context.forward("heard")
        after = timedelta(milliseconds=record.value["after_ms"])
        self.context.schedule(self.context.system_time + after)

    def punctuate(self, key: Any, at: datetime) -> None:
        del key, at
        self.context.forward("reminded")


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
    rows = app.table("rows", value_type="n bigint")
    rows.transform_values(Total, returns="bigint").filter("value < 9").to_stream().to("totals")
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
        for value in ({"n": 3}, None, {"n": 4}, {"n": 5}):
            driver.pipe("rows", "a", value)
        assert _by_key(driver.read("totals")) == {"a": [3, None, 7, None]}


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


def test_time_is_that_of_the_wall_clock(spark: SparkSession, one_partition: None) -> None:
    app = App("overdue")
    numbers = app.stream("numbers", value_type="n bigint")
    numbers.process(Overdue, returns=("string", "bigint"), name="overdue").to("overdue")
    with TopologyDriver(app, spark, wall_clock_time=START) as driver:
        # What the records say of time does not matter, be it ever so late.
        driver.pipe("numbers", "a", {"n": 1}, timestamp=START + timedelta(days=300))
        driver.pipe("numbers", "b", {"n": 1}, timestamp=START - timedelta(days=300))
        driver.advance_wall_clock_time(timedelta(seconds=3))
        driver.pipe("numbers", "b", {"n": 1})
        assert driver.read("overdue") == []
        driver.advance_wall_clock_time(timedelta(seconds=2))
        assert _times(driver.read("overdue")) == [("a-overdue", 1, 5)]
        driver.advance_wall_clock_time(timedelta(seconds=16))
        assert _times(driver.read("overdue")) == [("b-overdue", 2, 8)]
        # After twenty-one seconds it has forgotten a, but not b, which came again after three.
        for key in ("a", "b"):
            driver.pipe("numbers", key, {"n": 1})
        driver.advance_wall_clock_time(timedelta(seconds=5))
        assert _times(driver.read("overdue")) == [("a-overdue", 1, 26), ("b-overdue", 3, 26)]


def test_timers_fire_without_records_and_after_a_restart(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path
) -> None:
    topics.create(topic)
    out = f"{topic}-out"

    def job() -> Job:
        app = app_of(topics, tmp_path, guarantee="exactly_once")
        stream = app.stream(topic, value_type="after_ms bigint")
        stream.process(Reminding, returns=("string", "string")).to(out, value="string")
        started = Job(app.plan())
        started.start(spark)
        return started

    def written(count: int) -> list[tuple[bytes, bytes]]:
        return [(each.key(), each.value()) for each in topics.read(out, count)]

    first = job()
    try:
        topics.write(topic, {"after_ms": 2000}, key="a")
        assert written(2) == [(b"a", b"heard"), (b"a", b"reminded")]
        topics.write(topic, {"after_ms": 7000}, key="b")
        assert written(3)[-1] == (b"b", b"heard")
    finally:
        first.stop()
    second = job()
    try:
        assert written(4)[-1] == (b"b", b"reminded")
    finally:
        second.stop()


def _by_key(records: list[OutputRecord]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for record in records:
        found[record.key].append(record.value)
    return found


def _times(records: list[OutputRecord]) -> list[tuple[str, Any, int]]:
    """Return keys, values and seconds; there is no order among keys."""
    return sorted(
        (record.key, record.value, round((record.timestamp - START).total_seconds()))
        for record in records
    )
