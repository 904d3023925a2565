"""Which programs can be in real-time mode: Spark refuses the others when they change over."""

from __future__ import annotations

from headwater.plan.stages import split
from headwater.spark.compiler.real_time import may_be_real_time
from headwater.streams import App, KTable, Processor, Record, until_time_limit


class _Copy(Processor):
    def process(self, record: Record) -> None:
        self.context.forward(record.value)


def _app() -> tuple[App, KTable, KTable]:
    app = App("app", emit="record")
    return app, app.table("a", value_type="n int"), app.table("b", value_type="m int")


def test_joins_of_tables_may_be() -> None:
    app, a, b = _app()
    a.join(b).to_stream().to("out")
    a.join(b, foreign_key="cast(n AS string)").to_stream().to("other")
    assert [may_be_real_time(stage) for stage in split(app.plan())] == [True, True]


def test_several_inputs_are_one_before_all_state() -> None:
    app, a, b = _app()
    a.join(b).join(app.table("c", value_type="o int")).to_stream().to("out")
    assert [may_be_real_time(stage) for stage in split(app.plan())] == [False]


def test_what_python_or_a_buffer_keeps_may_not_be() -> None:
    app, a, _ = _app()
    a.suppress(until_time_limit("1 s")).to_stream().to("out")
    a.to_stream().transform_values(_Copy, returns="n int").to("other")
    assert [may_be_real_time(stage) for stage in split(app.plan())] == [False, False]
