"""Several streams in one aggregate."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.plan.nodes import Aggregate, Merge
from headwater.plan.windows import Window
from headwater.streams import App, KGroupedStream, PlanError, count, tumbling
from headwater.streams import avg as avg_of
from headwater.streams import sum as sum_of

Groups = tuple[KGroupedStream, KGroupedStream]


@pytest.fixture
def groups() -> Groups:
    app = App("app")
    orders = app.stream("orders", value_type="who string, amount decimal(10,2)", key="long")
    visits = app.stream("visits", value_type="page string, at int")
    return orders.group_by("who"), visits.group_by_key()


def test_a_table_with_the_results_of_all(groups: Groups) -> None:
    orders, visits = groups
    both = orders.cogroup(spent=sum_of("amount"), n=count()).cogroup(visits, {"pages": count()})
    table = both.aggregate(name="customers")
    assert table.row.key.ddl() == "string"
    assert table.row.value.ddl() == "struct<spent:decimal(20,2),n:bigint,pages:bigint>"
    assert isinstance(table.node, Aggregate)
    assert table.node.name == "customers"
    merged = table.node.parents[0]
    assert isinstance(merged, Merge)
    # A record without a value stays one, and is skipped.
    assert merged.row.value.ddl() == "struct<spent:decimal(10,2),n:int,pages:int>"


def test_windows_of_all(groups: Groups) -> None:
    orders, visits = groups
    both = orders.cogroup(n=count()).cogroup(visits, at=avg_of("at"))
    table = both.windowed_by(tumbling("1 minute")).aggregate(emit="record")
    assert isinstance(table.node, Aggregate)
    assert (table.node.window, table.node.emit) == (Window(60_000, 60_000), "record")
    assert table.suppress().row.windowed


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda a, b: a.cogroup(n=count()).cogroup(b, n=count()), "n is a result of another"),
        (lambda a, b: a.cogroup().cogroup(b, n=count()), "needs a result"),
        (lambda a, b: a.cogroup(n=count()).cogroup(b, m=sum_of("page")), "needs numbers"),
        (lambda a, b: a.cogroup(n=count()).cogroup("b", m=count()), "is no grouped stream"),
        (
            lambda a, b: a.windowed_by(tumbling("1 s")).cogroup(n=count()),
            "give the windows to all streams at once",
        ),
    ],
)
def test_what_is_refused(groups: Groups, build: Any, reason: str) -> None:
    with pytest.raises(PlanError) as refused:
        build(*groups)
    assert reason in str(refused.value)
    assert refused.value.location.startswith("tests/unit/streams/test_streams_cogrouped.py:")


def test_keys_are_of_one_type(groups: Groups) -> None:
    numbers = App("other").stream("numbers", key="long", value_type="n int").group_by_key()
    with pytest.raises(PlanError, match="the keys of cogrouped streams: bigint is not string"):
        groups[0].cogroup(n=count()).cogroup(numbers, m=count())
