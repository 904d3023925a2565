"""Which mode a query starts in, and which follows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pytest

from headwater.plan.plan import ProgramSettings
from headwater.plan.splitting.stages import split
from headwater.spark.compiler.stages import StageQuery
from headwater.spark.jobs.modes import Modes, trigger_of
from headwater.streams import App

if TYPE_CHECKING:
    from headwater.plan.splitting.stages import Stage

NO_ROWS: Any = None  # none of this looks at them
SETTINGS = ProgramSettings()
ASKED = replace(SETTINGS, spark={"spark.headwater.realTime": "true"})


def stage(kind: Literal["stateless", "count", "join"]) -> Stage:
    app = App("modes")
    stream = app.stream("r", value_type="value bigint")
    if kind == "count":
        stream = stream.group_by_key().count(emit="record").to_stream()
    elif kind == "join":
        stream = stream.join(app.table("t", value_type="unit string"))
    stream.to("out")
    (only,) = split(app.plan())
    return only


SINK = stage("stateless").sinks[0]
QUERY = StageQuery("q", NO_ROWS, "update", SINK, may_be_real_time=True)


def test_a_query_with_state_catches_up_before_it_is_real_time() -> None:
    modes = Modes(SETTINGS, once=False)
    assert modes.first(QUERY, stage("count")) == "catching up"
    assert modes.first(QUERY, stage("stateless")) == "real-time"
    assert modes.following("catching up", lasted_s=1) == "real-time"
    assert modes.following("catching up", lasted_s=60) == "catching up", "much has come meanwhile"
    assert modes.following("once", lasted_s=1) is None


def test_a_join_with_a_table_is_real_time_only_where_that_is_asked_for() -> None:
    assert Modes(SETTINGS, once=False).first(QUERY, stage("join")) == "running"
    assert Modes(ASKED, once=False).first(QUERY, stage("join")) == "catching up"


@pytest.mark.parametrize(
    ("modes", "query"),
    [
        (Modes(replace(SETTINGS, guarantee="exactly_once"), once=False), QUERY),
        (Modes(replace(SETTINGS, spark={"spark.headwater.realTime": "false"}), once=False), QUERY),
        (Modes(SETTINGS, once=False, fits_real_time=False), QUERY),
        (Modes(SETTINGS, once=False), replace(QUERY, may_be_real_time=False)),
    ],
)
def test_what_cannot_be_real_time_runs_in_micro_batches(modes: Modes, query: StageQuery) -> None:
    assert modes.first(query, stage("count")) == "running"
    assert replace(modes, once=True).first(query, stage("count")) == "once"


def test_each_mode_has_its_trigger() -> None:
    hourly = replace(SETTINGS, spark={"spark.headwater.trigger": "1 hour"})
    for one_jvm in (False, True):
        of = partial(trigger_of, settings=hourly, one_jvm=one_jvm)
        assert of("running") == {"processingTime": "1 hour"}
        assert of("once") == of("catching up") == {"availableNow": True}
        assert "realTime" in of("real-time")


def test_a_real_time_batch_is_long_only_where_its_readers_can_end_it() -> None:
    assert trigger_of("real-time", SETTINGS, one_jvm=False) == {"realTime": "10 seconds"}
    assert trigger_of("real-time", SETTINGS, one_jvm=True) == {"realTime": "5 minutes"}
