"""One Spark session for all tests of a worker, and streams fed with micro-batches of rows.

A test module that needs them imports the fixtures `spark`, `one_partition` and `micro_batches`
from here.
"""

from __future__ import annotations

import json
import os
import runpy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from headwater.spark.session import spark_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, Row, SparkSession

ROOT = Path(__file__).parents[1]
ENDED_WITHIN_S = 240


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The session, with the operators built from the sources as they are."""
    built = runpy.run_path(str(ROOT / "jvm" / "build.py"))["main"]([])
    assert built == 0, "the operators could not be built, for the reasons on stderr"
    session = spark_session("headwater-tests", conf={"spark.ui.enabled": "false"})
    yield session
    session.stop()


@pytest.fixture(scope="module")
def one_partition(spark: SparkSession) -> Iterator[None]:
    """State in one partition, as a topology driver has it in a session of its own: few records."""
    name = "spark.sql.shuffle.partitions"
    usual = spark.conf.get(name) or "1"
    spark.conf.set(name, "1")
    yield
    spark.conf.set(name, usual)


class MicroBatches:
    """A streaming query over micro-batches of rows, restarted from its checkpoint at will."""

    def __init__(self, spark: SparkSession, schema: str, directory: Path) -> None:
        self.spark = spark
        self.schema = schema
        self.input = directory / "input"
        self.checkpoint = directory / "checkpoint"
        self.input.mkdir()
        self._fed = 0
        self.state_rows: list[int] = []
        """How much state there was after each batch of the last run."""

    def feed(self, *batches: Sequence[Mapping[str, Any]]) -> None:
        """Add batches: each list of rows is one of its own."""
        for batch in batches:
            self._fed += 1
            name = f"{self._fed:06}.json"
            hidden = self.input / f".{name}"
            hidden.write_text("".join(json.dumps(row, default=str) + "\n" for row in batch))
            # The source takes files in the order of their times, which are whole milliseconds.
            os.utime(hidden, (self._fed, self._fed))
            hidden.rename(self.input / name)

    def run(
        self, query: Callable[[DataFrame], DataFrame], options: Mapping[str, str] | None = None
    ) -> list[list[Row]]:
        """Run the query over what was fed since the last run; returns what each batch gave."""
        results: list[list[Row]] = []
        rows = (
            self.spark.readStream.schema(self.schema)
            .option("maxFilesPerTrigger", 1)
            .json(str(self.input))
        )
        running = (
            query(rows)
            .writeStream.foreachBatch(lambda batch, _: results.append(batch.collect()))
            .outputMode("update")
            .option("checkpointLocation", str(self.checkpoint))
            .options(**dict(options or {}))
            .trigger(availableNow=True)
            .start()
        )
        try:
            assert running.awaitTermination(ENDED_WITHIN_S), "the query did not end"
        finally:
            running.stop()
        self.state_rows = [
            sum(operator["numRowsTotal"] for operator in progress["stateOperators"])
            for progress in running.recentProgress
        ]
        return results


@pytest.fixture
def micro_batches(spark: SparkSession, tmp_path: Path) -> Callable[[str], MicroBatches]:
    """A factory: given a schema as DDL, a stream of rows that have it."""
    made = 0

    def make(schema: str) -> MicroBatches:
        nonlocal made
        made += 1
        directory = tmp_path / f"stream-{made}"
        directory.mkdir()
        return MicroBatches(spark, schema, directory)

    return make
