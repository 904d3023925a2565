"""Aggregates of a table's rows by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from headwater.plan.nodes import ChangelogMode, Changes, TableAggregate
from headwater.plan.splitting.stages import split
from headwater.streams import App, PlanError, avg, count, tumbling
from headwater.streams import max as max_of
from headwater.streams import sum as sum_of

if TYPE_CHECKING:
    from headwater.streams import KTable


@pytest.fixture
def items() -> KTable:
    return App("app").table("items", value_type="shelf string, pieces int")


def test_results_of_groups(items: KTable) -> None:
    shelves = items.group_by("upper(shelf)").aggregate(
        items=count(), pieces=sum_of("pieces"), mean=avg("pieces"), name="shelves"
    )
    node = shelves.node
    assert isinstance(node, TableAggregate)
    assert (node.emit, node.name, node.undo) == ("batch", "shelves", None)
    assert node.changelog is ChangelogMode.UPSERT
    assert str(shelves.row) == ("key string, value struct<items:bigint,pieces:bigint,mean:double>")
    (changes,) = node.parents
    assert isinstance(changes, Changes)
    assert changes.changelog is ChangelogMode.RETRACT
    both = items.group_by("shelf", "pieces % 2 AS odd").count(emit="record")
    assert str(both.row) == "key struct<shelf:string,odd:int>, value struct<count:bigint>"
    assert isinstance(both.node, TableAggregate)
    assert both.node.emit == "record"


def test_single_results_and_reductions(items: KTable) -> None:
    groups = items.group_by("shelf")
    assert groups.sum("pieces").row.value.ddl() == "struct<sum:bigint>"
    assert groups.avg("pieces").row.value.ddl() == "struct<avg:double>"
    reduced = groups.reduce(
        {"shelf": "new.shelf", "pieces": "old.pieces + new.pieces"},
        undo={"shelf": "old.shelf", "pieces": "old.pieces - new.pieces"},
    )
    assert reduced.row.value == items.row.value
    assert isinstance(reduced.node, TableAggregate)
    assert reduced.node.id.startswith("KTABLE-REDUCE-")
    plain = items.map_values("pieces").group_by("value % 2").reduce("old + new", undo="old - new")
    assert str(plain.row) == "key int, value int"


def test_old_values_stay_in_one_stage_and_results_of_spark_come_by_a_topic() -> None:
    app = App("app")
    readings = app.stream("readings", value_type="kind string")
    counts = readings.group_by_key().count()
    counts.group_by("count").count().to_stream().to("histogram")
    first, second = split(app.plan())
    assert len(first.stateful) == 1
    assert [type(node) for node in second.stateful] == [Changes, TableAggregate]


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda t: t.group_by("shelf").aggregate(), "aggregate needs a result"),
        (lambda t: t.group_by("shelf").aggregate(m=max_of("pieces")), "cannot take back the value"),
        (lambda t: t.group_by("shelf").count(emit="final"), "may always change"),
        (lambda t: t.group_by("shelves"), "did you mean 'shelf'"),
        (lambda t: t.group_by("shelf").sum("shelf"), "needs numbers"),
        (
            lambda t: t.map_values("pieces").group_by("1").reduce("old + new", undo="'a'"),
            "a reduced value keeps its type",
        ),
        (
            lambda t: (
                t.to_stream().group_by_key().windowed_by(tumbling("1 s")).count().group_by("count")
            ),
            "a windowed table has several values",
        ),
    ],
)
def test_what_is_refused(items: KTable, build: Any, reason: str) -> None:
    with pytest.raises(PlanError) as refused:
        build(items)
    assert reason in str(refused.value)
    assert refused.value.location.startswith("tests/unit/streams/test_streams_grouped_table.py:")


def test_what_no_value_can_be_taken_back_from(items: KTable) -> None:
    for name in ("min", "max"):
        with pytest.raises(AttributeError, match="no value can be taken back from it"):
            getattr(items.group_by("shelf"), name)
