"""The jobs as Headwater programs, and how they are run over all that is there."""

from __future__ import annotations

import tempfile
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from benchmarks.pipeline.workload import CHECK_TYPE, LIMIT_TYPE, READING_TYPE, THRESHOLD
from headwater.spark.jobs.job import Job, JobFailed
from headwater.streams import App, col, session, tumbling, within

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

Kind = Literal["filter", "count", "join", "pair", "tables", "sessions"]
Guarantee = Literal["at_least_once", "exactly_once"]

KINDS: tuple[Kind, ...] = ("filter", "count", "join", "pair", "tables", "sessions")
GUARANTEES: tuple[Guarantee, ...] = ("at_least_once", "exactly_once")

_END_WITHIN_S = 1_800.0


class Topics(NamedTuple):
    """What a job reads and writes."""

    readings: str
    limits: str
    checks: str
    output: str
    pair_within_ms: int
    """How far apart a reading and a check may be that are paired."""


def run_once(
    spark: SparkSession,
    kind: Kind,
    bootstrap_servers: str,
    topics: Topics,
    guarantee: Guarantee = "at_least_once",
    *,
    say: Callable[[str], None],
) -> float:
    """Run a job from its start until it has processed what is there; return the seconds.

    Raises JobFailed, also if it does not end.
    """
    with tempfile.TemporaryDirectory(prefix="headwater-bench-") as checkpoints:
        app = App(
            f"bench-{topics.output}",
            bootstrap_servers=bootstrap_servers,
            guarantee=guarantee,
            checkpoint_dir=checkpoints,
        )
        build(app, kind, topics)
        started = time.perf_counter()
        job = Job(app.plan(), once=True, notice=say)
        job.start(spark)
        try:
            if not job.wait(_END_WITHIN_S):
                raise JobFailed(f"the job {kind!r} did not end within {_END_WITHIN_S:.0f} s")
            return time.perf_counter() - started
        finally:
            job.stop()


def build(app: App, kind: Kind, topics: Topics) -> None:
    """Add a job to a program."""
    if kind == "tables":
        newest = app.table(topics.readings, value_type=READING_TYPE)
        limits = app.table(topics.limits, value_type=LIMIT_TYPE)
        newest.join(limits).to_stream().to(topics.output)
        return
    readings = app.stream(topics.readings, value_type=READING_TYPE)
    if kind == "filter":
        readings.filter(col("value") > THRESHOLD).to(topics.output)
    elif kind == "pair":
        checks = app.stream(topics.checks, value_type=CHECK_TYPE)
        span = within(timedelta(milliseconds=topics.pair_within_ms))
        readings.join(checks, window=span).to(topics.output)
    elif kind == "join":
        limits = app.table(topics.limits, value_type=LIMIT_TYPE)
        readings.join(limits).to(topics.output)
    else:
        windows = tumbling("1 minute") if kind == "count" else session("10 seconds")
        counts = readings.group_by_key().windowed_by(windows).count()
        counts.to_stream().to(topics.output)
