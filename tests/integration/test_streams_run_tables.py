"""Joins with tables at the start of a program, in either mode: the table is there before them."""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.spark_sink_pipeline import read_committed
from tests.integration.streams_topics import Topics, app_of, topics
from tests.spark_session import spark
from tests.waiting import wait_for

from headwater.spark.jobs.job import Job

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from headwater.plan.plan import Guarantee

__all__ = ["spark", "topics"]

KEYS = 200
JOINS = ("inner", "left", "global")


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once"])
def test_a_table_is_read_to_its_end_before_the_stream_begins(
    spark: SparkSession, topics: Topics, topic: str, tmp_path: Path, guarantee: Guarantee
) -> None:
    program = _Program(topics, topic, guarantee)
    program.set_units("one")
    with program.running(spark, tmp_path):
        program.write_readings(0)
        # The table was complete before the program was.
        assert program.units_of(0) == {join: {"one"} for join in JOINS}
    program.set_units("two")
    program.write_readings(1)
    with program.running(spark, tmp_path):
        # Again, and now the stream's records are there before the program as well.
        assert program.units_of(1) == {join: {"two"} for join in JOINS}
        program.wait_until_caught_up()
        program.write_readings(2)
        assert program.units_of(2) == {join: {"two"} for join in JOINS}


class _Program:
    """Three joins of readings with units; readings come in rounds, one for each key."""

    def __init__(self, topics: Topics, topic: str, guarantee: Guarantee) -> None:
        self._topics = topics
        self._guarantee = guarantee
        self._readings, self._units, self._output = (
            f"{topic}-{name}" for name in ("readings", "units", "out")
        )
        self._job: Job | None = None
        topics.create(self._readings, self._units)

    def set_units(self, unit: str) -> None:
        self._write(self._units, {"unit": unit})

    def write_readings(self, round_: int) -> None:
        self._write(self._readings, {"round": round_})

    @contextmanager
    def running(self, spark: SparkSession, tmp_path: Path) -> Iterator[None]:
        # Without the setting, both guarantees would run in micro-batches.
        spark_settings = {"spark.headwater.realTime": "true"}
        app = app_of(self._topics, tmp_path, guarantee=self._guarantee, spark=spark_settings)
        readings = app.stream(self._readings, value_type="round int")
        units = app.table(self._units, value_type="unit string")
        everywhere = app.global_table(self._units, value_type="unit string")
        fields: dict[str, Any] = {"round": "round", "unit": "unit"}
        readings.join(units, **fields).to(f"{self._output}-inner")
        readings.left_join(units, **fields).to(f"{self._output}-left")
        readings.left_join(everywhere, **fields, on="record.key").to(f"{self._output}-global")
        self._job = Job(app.plan())
        self._job.start(spark)
        try:
            yield
        finally:
            self._job.stop()

    def wait_until_caught_up(self) -> None:
        steady = {"at_least_once": "real-time", "exactly_once": "running"}[self._guarantee]
        wait_for(self._states, until=lambda states: states == {steady})

    def units_of(self, round_: int) -> dict[str, set[str | None]]:
        """Return the units that the readings of a round met, once each reading has come out."""
        return {join: self._units_in(f"{self._output}-{join}", round_) for join in JOINS}

    def _states(self) -> set[str]:
        assert self._job is not None, "it runs"
        return {query.state for query in self._job.progress()}

    def _units_in(self, topic: str, round_: int) -> set[str | None]:
        # At least once: some may come again.
        found: dict[str, set[str | None]] = defaultdict(set)

        def look() -> int:
            for message in read_committed(self._topics.servers, topic):
                value = json.loads(message.value() or b"{}")
                if value["round"] == round_:
                    found[message.key().decode()].add(value.get("unit"))
            return len(found)

        wait_for(look, topic, until=lambda count: count == KEYS)
        return set().union(*found.values())

    def _write(self, topic: str, value: Mapping[str, object]) -> None:
        for number in range(KEYS):
            self._topics.produce(topic, f"k{number}", value)
        self._topics.flush()
