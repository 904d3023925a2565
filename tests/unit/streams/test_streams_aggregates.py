"""Groups, windows and what they are folded into."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.plan.nodes import Aggregate, Buffer, ChangelogMode, Suppress
from headwater.plan.windows import SessionWindow, SlidingWindow, Window
from headwater.streams import (
    App,
    KStream,
    KTable,
    PlanError,
    avg,
    col,
    count,
    functions,
    hopping,
    max,  # noqa: A004
    min,  # noqa: A004
    session,
    sliding,
    sum,  # noqa: A004
    tumbling,
    until_time_limit,
)


@pytest.fixture
def readings() -> KStream:
    app = App("app")
    return app.stream("readings", value_type="id string, value double, n int, m decimal(10,2)")


def _aggregate(table: KTable) -> Aggregate:
    assert isinstance(table.node, Aggregate)
    return table.node


def test_several_at_once_with_the_types_of_spark(readings: KStream) -> None:
    table = readings.group_by_key().aggregate(
        total=sum("n"), exact=sum("m"), mean=avg("m"), rate=avg("n"), low=min("id"),
        high=max(col("value") * 2), n=count(), known=count("id"),
    )  # fmt: skip
    assert table.row.value.ddl() == (
        "struct<total:bigint,exact:decimal(20,2),mean:decimal(14,6),rate:double,low:string,"
        "high:double,n:bigint,known:bigint>"
    )
    assert table.row.key.ddl() == "string"
    node = _aggregate(table)
    assert node.by is None
    assert node.emit == "batch"
    assert node.changelog is ChangelogMode.UPSERT
    assert not node.needs_repartition


def test_single_ones(readings: KStream) -> None:
    grouped = readings.group_by_key()
    found = [
        grouped.count(), grouped.sum("n"), grouped.avg("n"), grouped.min("value * 2"),
        grouped.max("id"),
    ]  # fmt: skip
    assert [table.row.value.ddl() for table in found] == [
        "struct<count:bigint>", "struct<sum:bigint>", "struct<avg:double>", "struct<min:double>",
        "struct<max:string>",
    ]  # fmt: skip


def test_a_group_by_something_else_has_that_as_its_key(readings: KStream) -> None:
    table = readings.group_by("n % 10").count()
    assert table.row.key.ddl() == "int"
    assert str(_aggregate(table).by) == "n % 10"
    python = readings.group_by(lambda value: value["id"][:1], returns=str).count()
    assert python.row.key.ddl() == "string"


def test_a_group_by_several_columns_has_a_key_of_them(readings: KStream) -> None:
    table = readings.group_by("id", "n % 10 AS digit").count()
    assert table.row.key.ddl() == "struct<id:string,digit:int>"
    assert table.to_stream().filter("key.digit > 1").row.key == table.row.key


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (("id", "n % 10"), "n % 10: a column of a key has a name; write n % 10 AS"),
        (("id", "n AS id"), "n AS id: the key has a column 'id' already"),
        (("id", lambda value: value), "the columns of a key are expressions, not functions"),
        (("id", "nn"), "there is no 'nn' here"),
    ],
)
def test_keys_of_several_columns_that_cannot_be(
    readings: KStream, columns: tuple[Any, ...], reason: str
) -> None:
    with pytest.raises(PlanError, match=reason):
        readings.group_by(*columns)


def test_windows(readings: KStream) -> None:
    grouped = readings.group_by_key()
    table = grouped.windowed_by(tumbling("1 minute").grace("10 s")).count(late_to="late")
    node = _aggregate(table)
    assert node.window == Window(60_000, 60_000, 10_000)
    assert node.late_to == "late"
    assert table.row.windowed
    assert table.row.value.ddl() == (
        "struct<window_start:timestamp not null,window_end:timestamp not null,count:bigint>"
    )
    hops = _aggregate(grouped.windowed_by(hopping("1 minute", "10 s")).count())
    assert hops.window == Window(60_000, 10_000, 0)
    # Fields of the window are names as any other.
    table.to_stream().map_values(at="window_start", n="count")


def test_windows_that_follow_the_records(readings: KStream) -> None:
    grouped = readings.group_by_key()
    table = grouped.windowed_by(session("30 minutes").grace("10 s")).count()
    node = _aggregate(table)
    assert node.window == SessionWindow(1_800_000, 10_000)
    assert node.in_arrival_order
    assert not node.waits
    assert table.row.windowed
    assert table.row.value.ddl().endswith("window_end:timestamp not null,count:bigint>")
    final = _aggregate(table.suppress())
    assert (final.window, final.waits) == (node.window, True)
    slid = _aggregate(grouped.windowed_by(sliding("2 s").grace("1 s")).count())
    assert slid.window == SlidingWindow(2_000, 1_000)
    assert slid.in_arrival_order


def test_suppress_waits_for_the_window_and_keeps_the_rest(readings: KStream) -> None:
    early = readings.group_by("id").windowed_by(tumbling("1 minute")).count(late_to="late")
    final = _aggregate(early.suppress())
    assert final.emit == "final"
    assert final.late_to == "late"
    assert final.by is _aggregate(early).by
    assert final.id != early.node.id


def test_emit_is_the_apps_unless_said(readings: KStream) -> None:
    app = App("app", emit="record")
    stream = app.stream("readings", value_type="id string")
    assert _aggregate(stream.group_by_key().count()).emit == "record"
    assert _aggregate(stream.group_by_key().count(emit="batch")).emit == "batch"


def test_reduce(readings: KStream) -> None:
    grouped = readings.map_values("value").group_by_key()
    table = grouped.reduce("greatest(old, new)")
    assert table.row.value.ddl() == "double"
    assert _aggregate(table).reduce is not None
    fields = readings.map_values(a="n", b="id").group_by_key()
    reduced = fields.windowed_by(tumbling("1 s")).reduce(a="old.a + new.a", b="new.b")
    assert reduced.row.value.ddl().endswith("window_end:timestamp not null,a:int,b:string>")


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda g: g.sum("id"), "sum(id): needs numbers, not string"),
        (lambda g: g.sum("valeu"), "there is no 'valeu' here"),
        (lambda g: g.aggregate(), "needs a result"),
        (lambda g: g.aggregate(a=col("n")), "is no aggregate"),
        (lambda g: g.count(emit="sometimes"), "there is no emit 'sometimes'"),
        (lambda g: g.count(emit="final"), "only windows have a final result"),
        (lambda g: g.count(late_to="late"), "only windows have late records"),
        (lambda g: g.count().suppress(), "suppress waits for windows"),
        (lambda g: g.reduce("old.n + new.n"), "a reduced value keeps its type"),
        (lambda g: g.reduce(n="old.n + new.n"), "an expression for each field"),
        (lambda g: g.windowed_by(hopping("1 s", "2 s")), "leave gaps"),
        (lambda g: g.windowed_by(tumbling("0 s")), "a size above zero"),
        (lambda g: g.windowed_by(session("0 s")), "so is the gap of a session"),
        (lambda g: g.windowed_by(tumbling("soon")), "'soon' is no duration"),
        (
            lambda g: g.windowed_by(tumbling("1 s")).aggregate(window_start=count()),
            "the window has fields of these names",
        ),
    ],
)
def test_what_is_refused(readings: KStream, build: Any, reason: str) -> None:
    with pytest.raises(PlanError) as refused:
        build(readings.group_by_key())
    assert reason in str(refused.value)
    assert refused.value.location.startswith("tests/unit/streams/test_streams_aggregates.py:")


def test_aggregates_that_spark_has_not_are_folded_by_our_operator(readings: KStream) -> None:
    results = {
        "items": functions.collect_list("id"),
        "last": functions.latest_by_offset("n"),
        "lasts": functions.latest_by_offset("n", 2),
        "top": functions.topk("value", 3, "id"),
        "kinds": functions.count_distinct("id"),
        "bars": functions.histogram("id"),
        "related": functions.correlation("value", "n"),
        "only": functions.attr("m"),
    }
    node = _aggregate(readings.group_by_key().aggregate(results))
    assert node.in_arrival_order
    assert node.row.value.ddl() == (
        "struct<items:array<string>,last:int,lasts:array<int>,"
        "top:array<struct<sort_col:double,col0:string>>,kinds:bigint,bars:map<string,bigint>,"
        "related:double,only:decimal(10,2)>"
    )


def test_statistics_need_numbers(readings: KStream) -> None:
    with pytest.raises(PlanError, match=r"stddev_sample\(id\): needs numbers, not string"):
        readings.group_by_key().aggregate(spread=functions.stddev_sample("id"))


def test_what_keeps_nulls_cannot_be_cogrouped(readings: KStream) -> None:
    with pytest.raises(PlanError, match="cannot be cogrouped"):
        readings.group_by_key().cogroup(all=functions.collect_list("id"))


def test_updates_of_any_table_are_held_back_until_a_time_limit() -> None:
    table = App("app").table("t", value_type="n int")
    limit = until_time_limit("5 seconds").max_records(10).max_bytes(999)
    node = table.suppress(limit, name="held").node
    assert isinstance(node, Suppress)
    assert node.buffer == Buffer(5_000, 10, 999, "emit early")
    assert str(node.buffer) == "5 seconds, 10 records, 999 bytes, emit early"
    assert (node.name, node.changelog) == ("held", ChangelogMode.UPSERT)
    strict = limit.shut_down_when_full()
    assert strict.buffer.when_full == "shut down"
    assert strict.emit_early_when_full() == limit
    with pytest.raises(PlanError, match=r"max_records\(0\): the buffer needs room"):
        until_time_limit("1 s").max_records(0)
