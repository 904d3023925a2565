"""Processors of users' own: every kind of store, timers in event time, time to live, topologies."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.streams_topics import Topics, app_of, topics
from tests.spark_session import one_partition, spark
from tests.waiting import wait_for

from headwater.spark.jobs.job import Job
from headwater.streams import (
    App,
    Processor,
    ProcessorContext,
    PunctuationType,
    Record,
    list_store,
    map_store,
    value_store,
)
from headwater.testing.topology_driver import TopologyDriver
from headwater.testing.topology_failed import TopologyFailed

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


class Limits(Processor):
    """Sets the limit of a key, and forwards nothing."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.limit = context.state_store("limit")

    def process(self, record: Record) -> None:
        self.limit.delete() if record.value is None else self.limit.put(record.value["limit"])


class Alarms(Processor):
    """Tells by how much a value is above the limit, and ten seconds later how many were."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.limit = context.state_store("limit")
        self.above = context.state_store("above")

    def process(self, record: Record) -> None:
        limit = self.limit.get()
        if limit is not None and record.value["n"] > limit:
            self.above.append(record.value["n"])
            self.context.forward(record.value["n"] - limit)
            self.context.schedule(record.timestamp + timedelta(seconds=10))

    def punctuate(self, key: Any, at: datetime) -> None:
        self.context.forward(-len(self.above.all()), timestamp=at)


class Filling(Processor):
    """Keeps all that a topic has of a key."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.all = context.state_store("all")

    def process(self, record: Record) -> None:
        self.all.append(record.value["n"])


class Looking(Processor):
    """Tells what two topics have of a key, and changes it where the value is zero."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.last = context.state_store("last")
        self.all = context.state_store("all")
        self.asked = context.state_store("asked")

    def process(self, record: Record) -> None:
        if record.value["n"] == 0:
            self.last.put({"n": 0})
        self.asked.put(record.value["n"], (self.asked.get(record.value["n"]) or 0) + 1)
        last = self.last.get()
        self.context.forward({"last": last and last["n"], "all": self.all.all()})


class Relief(Processor):
    """Takes alarms, raises the limit by each, and tells of that a second later, and after ten."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.limit = context.state_store("limit")
        self.raised = context.value_store("raised", "bigint")

    def process(self, record: Record) -> None:
        if record.value > 0:
            self.limit.put(self.limit.get() + 1)
            self.raised.put((self.raised.get() or 0) + 1)
            self.context.forward(self.raised.get(), key=f"{record.key}-raised")
            self.context.schedule(record.timestamp + timedelta(seconds=10))

    def punctuate(self, key: Any, at: datetime) -> None:
        self.context.forward(-self.raised.get(), key=f"{key}-raised")


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

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.said = context.state_store("said")

    def process(self, record: Record) -> None:
        self.context.forward("heard")
        self.said.put("heard")
        after = timedelta(milliseconds=record.value["after_ms"])
        self.context.schedule(self.context.system_time + after)

    def punctuate(self, key: Any, at: datetime) -> None:
        del key, at
        self.context.forward("reminded")
        self.said.put("reminded")


@dataclass
class Number:
    n: int


def _larger(old: int, new: int) -> int:
    return max(old, new)


def _followed_by(key: int, value: Number, before: list[int]) -> list[int] | None:
    assert key == value.n % 2
    return None if value.n == 5 else [*before, value.n]


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
    numbers = app.stream("numbers", value_type=Number)
    numbers.map_values("n").group_by_key().reduce(_larger).to_stream().to("largest")
    lists = numbers.group_by("n % 2").aggregate(list, _followed_by, returns="array<bigint>")
    lists.to_stream().to("lists")
    rows = app.table("rows", value_type="n bigint")
    rows.transform_values(Total, returns="bigint").filter("value < 9").to_stream().to("totals")
    choice = random.Random(1)
    largest: dict[str, int] = {}
    all_of: dict[int, list[int]] = defaultdict(list)
    state: dict[str, list[int]] = defaultdict(list)
    totals: dict[str, int] = defaultdict(int)
    with TopologyDriver(app, spark) as driver:
        for _ in range(2):
            expected: dict[str, list[Any]] = defaultdict(list)
            doubled: dict[str, list[int]] = defaultdict(list)
            larger: dict[str, list[int]] = defaultdict(list)
            listed: dict[int, list[list[int] | None]] = defaultdict(list)
            for _ in range(60):
                key, n = choice.choice(KEYS), choice.randrange(6)
                at = START + timedelta(seconds=choice.randrange(100))
                driver.pipe("numbers", key, {"n": n}, timestamp=at)
                largest[key] = max(largest.get(key, n), n)
                larger[key].append(largest[key])
                all_of[n % 2] = [] if n == 5 else [*all_of[n % 2], n]
                listed[n % 2].append([*all_of[n % 2]] or None)
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
            assert _by_key(driver.read("largest")) == larger
            assert _by_key(driver.read("lists")) == listed
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


def test_processors_that_share_stores(spark: SparkSession, one_partition: None) -> None:
    app = App("shared")
    app.add_state_store(value_store("limit", "bigint"), look_ups=True)
    app.add_state_store(list_store("above", "bigint"), look_ups=True)
    app.stream("limits", value_type="limit bigint").process(Limits, returns=("string", "int"))
    numbers = app.stream("numbers", value_type="n bigint")
    alarms = numbers.filter("n > 0").transform_values(Alarms, returns="bigint")
    alarms.to("alarms")
    alarms.process(Relief, returns=("string", "bigint")).to("raised")
    choice, now = random.Random(2), START
    limit: dict[str, int] = {}
    raised: dict[str, int] = defaultdict(int)
    above: dict[str, list[int]] = defaultdict(list)
    waiting: list[tuple[datetime, str]] = []
    with TopologyDriver(app, spark) as driver:
        for _ in range(3):
            expected: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
            for _ in range(40):
                key, now = choice.choice(KEYS), now + timedelta(seconds=choice.randrange(1, 3))
                if choice.random() < 0.25:
                    row = choice.choice((None, {"limit": choice.randrange(5)}))
                    driver.pipe("limits", key, row, timestamp=now)
                    if row is None:
                        limit.pop(key, None)
                    else:
                        limit[key] = row["limit"]
                    expected["shared-limit-changelog"][key].append(row and row["limit"])
                    continue
                n = choice.randrange(12)
                driver.pipe("numbers", key, {"n": n}, timestamp=now)
                if n > limit.get(key, 99):
                    expected["alarms"][key].append(n - limit[key])
                    limit[key] += 1
                    raised[key] += 1
                    above[key].append(n)
                    expected["shared-above-changelog"][key].append([*above[key]])
                    expected["shared-limit-changelog"][key].append(limit[key])
                    expected["raised"][f"{key}-raised"].append(raised[key])
                    waiting.append((now + timedelta(seconds=10), key))
            # Timers come after the batch, at what the stores have then: both have one at a time.
            for _, key in [each for each in waiting if each[0] <= now]:
                expected["alarms"][key].append(-len(above[key]))
                expected["raised"][f"{key}-raised"].append(-raised[key])
            waiting = [each for each in waiting if each[0] > now]
            found = {name: _by_key(driver.read(name)) for name in expected}
            assert found == expected


def test_topics_fill_stores(spark: SparkSession, one_partition: None) -> None:
    app = App("filled")
    app.add_read_only_state_store(value_store("last", "n bigint"), "rows")
    app.add_read_only_state_store(
        list_store("all", "bigint"), "rows", Filling, value_type="n bigint"
    )
    app.add_state_store(map_store("asked", "bigint", "bigint"), look_ups=True)
    numbers = app.stream("numbers", value_type="n bigint")
    numbers.transform_values(Looking, returns="last bigint, all array<bigint>").to("out")
    with TopologyDriver(app, spark) as driver:
        for second, (topic, n) in enumerate(
            [("rows", 1), ("rows", 2), ("numbers", 9), ("rows", 3), ("numbers", 8)]
        ):
            driver.pipe(topic, "a", {"n": n}, timestamp=START + timedelta(seconds=second))
        driver.pipe("numbers", "b", {"n": 7})
        assert _by_key(driver.read("out")) == {
            "a": [{"last": 2, "all": [1, 2]}, {"last": 3, "all": [1, 2, 3]}],
            "b": [{"all": []}],
        }
        asked = [{"9": 1}, {"9": 1, "8": 1}]
        assert _by_key(driver.read("filled-asked-changelog")) == {"a": asked, "b": [{"7": 1}]}
        driver.pipe("numbers", "a", {"n": 0})
        with pytest.raises(TopologyFailed, match="the store 'last' has what is in its topic"):
            driver.run()


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

    def program() -> App:
        app = app_of(topics, tmp_path, guarantee="exactly_once", stores_dir=tmp_path / "stores")
        app.add_state_store(value_store("said", "string"), look_ups=True)
        stream = app.stream(topic, value_type="after_ms bigint")
        stream.process(Reminding, returns=("string", "string")).to(out, value="string")
        return app

    def job() -> Job:
        started = Job(program().plan())
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
        asking = program()
        said = asking.store("said")
        said.wait_until_ready()
        wait_for(lambda: dict(said.all()), until=lambda all_: "heard" not in all_.values())
        assert dict(said.all()) == {"a": "reminded", "b": "reminded"}
        asking.stores.close()
    finally:
        second.stop()


def _by_key(records: list[OutputRecord]) -> dict[Any, list[Any]]:
    found: dict[Any, list[Any]] = defaultdict(list)
    for record in records:
        found[record.key].append(record.value)
    return found


def _times(records: list[OutputRecord]) -> list[tuple[str, Any, int]]:
    """Return keys, values and seconds; there is no order among keys."""
    return sorted(
        (record.key, record.value, round((record.timestamp - START).total_seconds()))
        for record in records
    )
