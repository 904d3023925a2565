"""Every source and sink of a plan is read or written by Spark, found by the type of its node."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.unit.plan.node_classes import classes_below

from headwater.plan.errors import PlanError
from headwater.plan.nodes import ChangelogMode, Sink, Source
from headwater.plan.rows import RowType
from headwater.plan.schemas.types import STRING
from headwater.spark.sinks.registry import WRITERS, writer_of
from headwater.spark.sources.registry import READERS, reader_of

ROW = RowType(STRING, STRING)


def test_every_source_has_a_reader() -> None:
    assert set(READERS) == classes_below(Source)


def test_every_sink_has_a_writer() -> None:
    assert set(WRITERS) == classes_below(Sink)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Numbers(Source):
    """A source of a test's own."""

    places = ("numbers",)
    reads = ("numbers",)
    summary = "numbers"
    changelog = ChangelogMode.APPEND


@dataclass(frozen=True, eq=False, kw_only=True)
class _Nowhere(Sink):
    """A sink of a test's own."""

    summary = "nowhere"
    place = None


def test_what_spark_does_not_know_is_refused_with_its_line() -> None:
    source = _Numbers(id="n", row=ROW, location="program.py:3")
    with pytest.raises(PlanError, match=r"^program.py:3: Spark has no reader for a _Numbers"):
        reader_of(source)
    sink = _Nowhere(id="s", parents=(source,), row=ROW, location="program.py:4")
    with pytest.raises(PlanError, match=r"^program.py:4: Spark has no writer for a _Nowhere"):
        writer_of(sink)
