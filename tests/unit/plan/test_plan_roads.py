"""Which programs are in real-time mode, and why others are not.

What cannot be, Spark refuses only when it changes over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.splitting.roads import why_micro_batches, why_not_real_time
from headwater.plan.splitting.stages import split
from headwater.streams import (
    App,
    KTable,
    Processor,
    Record,
    session,
    sliding,
    tumbling,
    until_time_limit,
    within,
)

if TYPE_CHECKING:
    from headwater.plan.splitting.stages import Stage


class _Copy(Processor):
    def process(self, record: Record) -> None:
        self.context.forward(record.value)


def _app() -> tuple[App, KTable, KTable]:
    app = App("app", emit="record")
    return app, app.table("a", value_type="n int"), app.table("b", value_type="m int")


def _may_be(stage: Stage) -> bool:
    return why_not_real_time(stage) is None


def test_joins_of_tables_may_be() -> None:
    app, a, b = _app()
    a.join(b).to_stream().to("out")
    a.join(b, foreign_key="cast(n AS string)").to_stream().to("other")
    assert [_may_be(stage) for stage in split(app.plan())] == [True, True]


def test_several_inputs_are_one_before_all_state() -> None:
    app, a, b = _app()
    a.join(b).join(app.table("c", value_type="o int")).to_stream().to("out")
    assert [_may_be(stage) for stage in split(app.plan())] == [False]


def test_what_python_or_a_buffer_keeps_may_not_be() -> None:
    app, a, _ = _app()
    a.suppress(until_time_limit("1 s")).to_stream().to("out")
    a.to_stream().transform_values(_Copy, returns="n int").to("other")
    assert [_may_be(stage) for stage in split(app.plan())] == [False, False]


def test_windows_and_joins_of_streams_may_be() -> None:
    app = App("app", emit="record")
    readings = app.stream("readings", value_type="n int")
    for index, window in enumerate((tumbling("1 s"), session("1 s"), sliding("1 s"))):
        readings.group_by_key().windowed_by(window).count().to_stream().to(f"windows-{index}")
    other = app.stream("other", value_type="m int")
    for index, join in enumerate((readings.join, readings.left_join, readings.outer_join)):
        join(other, window=within("1 s")).to(f"pairs-{index}")
    assert {_may_be(stage) for stage in split(app.plan())} == {True}


def test_it_is_said_what_is_in_the_way() -> None:
    app = App("app")
    readings = app.stream("readings", value_type="n int")
    windows = readings.group_by_key().windowed_by(tumbling("1 s"))
    windows.count().to_stream().to("batches")
    windows.count(emit="record", name="last").suppress().to_stream().to("final")
    readings.filter(lambda _key, value: value is not None).to("filtered")
    readings.join(app.table("units", value_type="unit string")).to("joined")
    found = [why_micro_batches(stage, stage.plan.settings) for stage in split(app.plan())]
    assert [(reason or "").partition(": ")[2] for reason in found[:3]] == [
        "an aggregate with one result for each batch",
        "windows close when a batch ends",
        "a function in Python",
    ]
    assert "spark.headwater.realTime=true" in (found[3] or "")


def test_the_guarantee_and_the_setting_are_in_the_way() -> None:
    off = {"spark.headwater.realTime": "false"}
    for app in (App("app", guarantee="exactly_once"), App("app", spark=off)):
        app.stream("readings", value_type="n int").to("copy")
        (stage,) = split(app.plan())
        assert _may_be(stage)
        assert why_micro_batches(stage, stage.plan.settings)


def test_what_is_joined_with_itself_is_read_once() -> None:
    app = App("app")
    motors = app.stream("motors", value_type="state string")
    on, off = motors.filter("state = 'on'"), motors.filter("state = 'off'")
    on.join(off, "left.state", window=within("1 s")).to("pairs")
    on.merge(off).to("both")
    several = motors.flat_map_values("array(state, state)").map_values(state="value")
    several.left_join(several, "left.state", window=within("1 s")).to("several")
    found = {
        str(stage.sinks[0].summary): why_not_real_time(stage) or "" for stage in split(app.plan())
    }
    assert found["to pairs"] == found["to several"] == ""
    assert "read twice" in found["to both"]
    parts = dict(app.fingerprint().parts)
    assert sum("inner join with itself" in part for part in parts.values()) == 1


def test_what_is_joined_with_itself_by_way_of_more_records_is_not() -> None:
    app = App("app")
    motors = app.stream("motors", value_type="state string")
    several = motors.flat_map_values("array(state, state)").map_values(state="value")
    motors.join(several, "left.state", window=within("1 s")).to("pairs")
    (stage,) = split(app.plan())
    assert "read twice" in (why_not_real_time(stage) or "")
