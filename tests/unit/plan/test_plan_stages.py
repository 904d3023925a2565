"""Stages: where a plan is cut, what is fused, and that nothing is lost on the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.plan.nodes import Aggregate, Filter, Map, Stateful, TopicSink, TopicSource
from headwater.plan.splitting.stages import Stage, split
from headwater.streams import App, KStream, tumbling, within

READING = "id string, kind string, value double"


def _stages(app: App) -> dict[str, Stage]:
    return {stage.name: stage for stage in split(app.plan())}


def _app() -> tuple[App, KStream]:
    app = App("app")
    return app, app.stream("readings", value_type=READING)


def test_sinks_without_state_share_a_query() -> None:
    app, readings = _app()
    readings.filter("value > 1").to("a")
    readings.map_values("value").to("b")
    readings.print()
    stages = _stages(app)
    assert list(stages) == ["readings"]
    assert len(stages["readings"].sinks) == 3
    assert not stages["readings"].only_adds


def test_files_are_appended() -> None:
    app, readings = _app()
    readings.to_files("folder")
    assert _stages(app)["readings"].only_adds


def test_what_follows_an_aggregate_shares_its_query() -> None:
    app, readings = _app()
    counts = readings.group_by_key().count().to_stream()
    counts.to("all")
    counts.filter("count > 10").to("many")
    readings.to("copy")
    stages = _stages(app)
    assert sorted(stages) == ["readings", "readings-aggregate"]
    assert len(stages["readings-aggregate"].sinks) == 2


def test_an_aggregate_of_an_aggregate_is_cut() -> None:
    app, readings = _app()
    by_id = readings.group_by_key().count().to_stream()
    by_id.group_by("count").count().to_stream().to("histogram")
    first, second = split(app.plan())
    (topic,) = first.internal_topics
    assert topic == "app-KSTREAM-AGGREGATE-0000000003-repartition"
    assert second.topic_sources[0].topics == (topic,)
    assert second.topic_sources[0].internal
    assert second.topic_sources[0].row == by_id.row
    assert [node.id for node in first.stateful] == ["KSTREAM-AGGREGATE-0000000001"]
    assert [node.id for node in second.stateful] == ["KSTREAM-AGGREGATE-0000000003"]


def test_a_name_names_the_stage_and_the_topic() -> None:
    app, readings = _app()
    by_id = readings.group_by_key().count(name="per-id").to_stream()
    by_id.group_by("count").count(name="histogram").to_stream().to("histogram-topic")
    stages = _stages(app)
    assert list(stages) == ["per-id", "histogram"]
    assert stages["per-id"].internal_topics == ("app-histogram-repartition",)


def test_an_aggregated_table_reaches_a_join_through_a_topic_once() -> None:
    app, readings = _app()
    counts = readings.group_by("kind").count()
    keyed = readings.select_key("kind")
    keyed.join(counts, id="id", n="count").to("one")
    keyed.left_join(counts, id="id", n="count").to("two")
    stages = split(app.plan())
    assert len(stages) == 3
    assert len(stages[0].internal_topics) == 1
    tables = [source for stage in stages[1:] for source in stage.topic_sources if source.internal]
    assert tables[0] is tables[1]
    assert tables[0].kind == "table"


def test_joins_with_tables_chain_in_one_query() -> None:
    app, readings = _app()
    units = app.global_table("units", value_type="unit string")
    places = app.global_table("places", value_type="place string")
    enriched = readings.join(units, on="kind").join(places, on="id")
    enriched.group_by_key().count().to_stream().to("out")
    (stage,) = split(app.plan())
    assert len(stage.stateful) == 3
    assert not stage.only_adds


@pytest.mark.parametrize("kind", ["left", "outer"])
def test_what_follows_an_outer_join_of_streams_is_cut_off(kind: str) -> None:
    app, readings = _app()
    other = app.stream("others", value_type="note string")
    join = readings.left_join if kind == "left" else readings.outer_join
    joined = join(other, window=within("1 minute"))
    joined.to("joined")
    joined.group_by_key().count().to_stream().to("counted")
    stages = split(app.plan())
    assert [stage.only_adds for stage in stages] == [False, False]
    assert len(stages[0].sinks) == 2


def test_a_query_follows_event_time_once() -> None:
    app, readings = _app()
    others = app.stream("others", value_type="note string")
    thirds = app.stream("thirds", value_type="word string")
    pairs = readings.join(others, window=within("1 minute"))
    pairs.join(thirds, window=within("1 minute")).to("triples")
    counts = pairs.group_by_key().windowed_by(tumbling("1 minute")).count()
    counts.to_stream().to("counted")
    stages = split(app.plan())
    watermarks = [sum(node.has_watermark for node in stage.stateful) for stage in stages]
    assert max(watermarks) == 1
    assert sum(watermarks) == 3, "the first join is computed once"


def test_final_results_only_add() -> None:
    app, readings = _app()
    windows = readings.group_by_key().windowed_by(tumbling("1 minute"))
    windows.count().suppress().to_stream().to("final")
    windows.count().to_stream().to("early")
    assert {name: stage.only_adds for name, stage in _stages(app).items()} == {
        "readings-aggregate": True,
        "readings-aggregate-2": False,
    }


def test_a_topic_in_between_separates_queries() -> None:
    app, readings = _app()
    readings.filter("value > 1").through("between").to("out")
    assert sorted(_stages(app)) == ["between", "readings"]


_STEPS = st.lists(
    st.sampled_from(["filter", "map", "select_key", "count", "table_join", "stream_join"]),
    max_size=7,
)


@given(_STEPS)
def test_no_stage_has_a_chain_that_spark_refuses_and_no_operator_is_lost(steps: list[str]) -> None:
    app, stream = _app()
    table = app.table("units", value_type="unit string")
    other = app.stream("others", value_type="note string")
    for step in steps:
        match step:
            case "filter":
                stream = stream.filter("key is not null")
            case "map":
                stream = stream.map_values("*", extra="1")
            case "select_key":
                stream = stream.select_key("upper(key)")
            case "count":
                stream = stream.group_by_key().count().to_stream()
            case "table_join":
                stream = stream.join(table, unit="right.unit", text="'x'")
            case "stream_join":
                stream = stream.join(other, note="right.note", window=within("1 s"))
    stream.to("out")
    plan = app.plan()
    stages = split(plan)
    for stage in stages:
        kinds = [type(node) for node in stage.stateful]
        assert kinds.count(Aggregate) <= 1
        assert Aggregate not in kinds[:-1]
    written = [topic for stage in stages for topic in stage.internal_topics]
    read = [
        topic
        for stage in stages
        for source in stage.topic_sources
        if source.internal
        for topic in source.topics
    ]
    assert sorted(written) == sorted(set(read))
    kept = {node.id for stage in stages for node in stage.plan.walk()}
    assert {node.id for node in plan.walk()} <= kept
    order = {topic: number for number, s in enumerate(stages) for topic in s.internal_topics}
    for number, stage in enumerate(stages):
        for source in stage.topic_sources:
            if source.internal:
                assert order[source.topics[0]] < number


def test_walking_gives_inputs_first_and_each_operator_once() -> None:
    app, readings = _app()
    kept = readings.filter("value > 1")
    kept.to("a")
    kept.map_values("id").to("b")
    nodes = list(app.plan().walk())
    assert [type(node) for node in nodes] == [TopicSource, Filter, TopicSink, Map, TopicSink]
    assert not any(isinstance(node, Stateful) for node in nodes)


def test_a_chain_longer_than_pythons_stack_is_walked() -> None:
    app, stream = _app()
    for _ in range(3_000):
        stream = stream.filter("value > 1")
    stream.to("out")
    assert len(list(app.plan().walk())) == 3_002
    (stage,) = split(app.plan())
    assert len(stage.sinks) == 1


def test_malformed_records_are_put_aside_once() -> None:
    app = App("a")
    readings = app.stream("r", value_type="id string, n int", dead_letter="malformed")
    readings.to("copy")
    readings.group_by_key().count().to_stream().to("counts")
    stages = split(app.plan())
    assert len(stages) == 2
    assert [[source.topics for source in stage.dead_letters] for stage in stages] == [
        [("r",)],
        [],
    ]
