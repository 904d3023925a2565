"""Processors and topologies by hand, as they are built."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.plan.nodes import Aggregate, ChangelogMode, Merge, Process
from headwater.plan.processing.fold import Fold, WindowFold
from headwater.plan.processing.processor import StateStore
from headwater.plan.schemas.types import BIGINT, STRING
from headwater.plan.splitting.fingerprint import fingerprint_of
from headwater.plan.splitting.stages import split
from headwater.streams import (
    App,
    KStream,
    PlanError,
    Processor,
    ProcessorContext,
    PunctuationType,
    Record,
    count,
    tumbling,
)


class Copy(Processor):
    def process(self, record: Record) -> None:
        self.context.forward(record.value)


class Stores(Copy):
    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.one = context.value_store("one", "bigint", ttl="1 minute")
        self.two = context.map_store("two", "string", int)


class TwoOfOneName(Copy):
    def init(self, context: ProcessorContext) -> None:
        context.value_store("one", "bigint")
        context.list_store("one", "bigint")


class Hasty(Copy):
    def init(self, context: ProcessorContext) -> None:
        context.forward(1)


class ByTheClock(Copy):
    punctuation_type = PunctuationType.WALL_CLOCK_TIME


class WrongClock(Copy):
    punctuation_type = "wall"  # type: ignore[assignment]


@pytest.fixture
def numbers() -> KStream:
    return App("app").stream("numbers", value_type="n bigint")


def test_a_processor_with_the_stores_that_it_asks_for(numbers: KStream) -> None:
    processed = numbers.process(Stores, returns=("int", "string"), name="mine")
    node = processed.node
    assert isinstance(node, Process)
    assert node.stores == (
        StateStore("one", "value", BIGINT, None, 60_000),
        StateStore("two", "map", BIGINT, STRING),
    )
    assert (node.name, node.processor_name) == ("mine", "Stores")
    assert str(processed.row) == "key int, value string"
    assert node.needs_repartition


def test_values_alone_keep_their_key(numbers: KStream) -> None:
    transformed = numbers.transform_values(Copy, returns="n bigint")
    assert str(transformed.row) == "key string, value struct<n:bigint>"
    assert not transformed.node.needs_repartition


def test_what_keeps_state_after_it_is_another_stage() -> None:
    app = App("app")
    copied = app.stream("numbers", value_type="n bigint").transform_values(Copy, returns="n bigint")
    copied.group_by_key().count(emit="record").to_stream().to("out")
    assert len(split(app.plan())) == 2


def test_values_of_a_table_are_those_of_a_table() -> None:
    app = App("app")
    table = app.table("numbers", value_type="n bigint")
    transformed = table.transform_values(Copy, returns="n bigint", name="copies")
    transformed.join(table, one="left.n", other="right.n").to_stream().to("out")
    assert transformed.node.changelog is ChangelogMode.UPSERT
    first, second = split(app.plan())
    assert [node.name for node in first.stateful] == ["copies"]
    assert [node.word for node in second.stateful] == ["tabletablejoin"]


def test_what_goes_by_the_wall_clock_is_alone_in_its_stage() -> None:
    app = App("app")
    numbers = app.stream("numbers", value_type="n bigint")
    counts = numbers.group_by_key().count(emit="record").to_stream()
    timed = counts.process(ByTheClock, returns=("string", "bigint"), name="timed")
    timed.group_by_key().count(emit="record").to_stream().to("out")
    stages = split(app.plan())
    assert [len(stage.stateful) for stage in stages] == [1, 1, 1]
    assert any(part.endswith(", by wall-clock time") for _, part in fingerprint_of(stages).parts)
    copies = numbers.process(Copy, returns=("string", "bigint"), name="copies")
    timed.merge(copies).to("both")
    with pytest.raises(PlanError, match="goes by the clock on the wall, and is merged") as refused:
        split(app.plan())
    assert refused.value.location.startswith("tests/unit/streams/test_streams_processes.py:")


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda n: n.process(Copy, returns="bigint"), "forwards keys and values: give their types"),
        (lambda n: n.process(Copy(), returns=("int", "int")), "give the processor's class"),
        (lambda n: n.process(dict, returns=("int", "int")), "dict makes no Processor"),
        (lambda n: n.process(TwoOfOneName, returns=("int", "int")), "a store 'one' already"),
        (lambda n: n.transform_values(Hasty, returns="int"), "init has no record yet"),
        (lambda n: n.group_by_key().reduce(max, emit="batch"), "gives a result for each record"),
        (lambda n: n.group_by_key().reduce(max, emit="final"), "only windows have late records"),
        (lambda n: n.group_by_key().reduce(max, late_to="late"), "only windows have late records"),
        (
            lambda n: (
                n.group_by_key()
                .windowed_by(tumbling("1 s"))
                .aggregate(dict, lambda key, value, old: old, returns="window_end int")
            ),
            "window_end: the window has fields of these names",
        ),
        (lambda n: n.group_by_key().aggregate(list), "or two functions and the type"),
        (lambda n: n.group_by_key().aggregate(n=count(), returns="int"), "is for a function"),
        (lambda n: n.process(WrongClock, returns=("int", "int")), "punctuation_type='wall'"),
    ],
)
def test_what_is_refused(numbers: KStream, build: Any, reason: str) -> None:
    with pytest.raises(PlanError, match=reason) as refused:
        build(numbers)
    assert refused.value.location.startswith("tests/unit/streams/test_streams_processes.py:")


def test_functions_fold_windows(numbers: KStream) -> None:
    windows = numbers.group_by_key().windowed_by(tumbling("1 minute"))
    folded = windows.reduce(lambda old, new: {"n": old["n"] - new["n"]}, emit="record", name="one")
    assert folded.row.windowed
    assert folded.row.value.ddl() == (
        "struct<window_start:timestamp not null,window_end:timestamp not null,n:bigint>"
    )
    (collected,) = folded.node.parents
    assert isinstance(collected, Aggregate)
    assert (collected.emit, collected.name) == ("record", "one")
    (last,) = folded.suppress().node.parents
    assert isinstance(last, Aggregate)
    assert (last.emit, last.name) == ("final", "one")
    assert folded.suppress().row == folded.row
    plain = windows.aggregate(int, lambda key, value, total: total + value["n"], returns="bigint")
    assert plain.row.value.ddl().endswith("not null,value:bigint>")


def test_a_window_is_folded_from_its_first_value_on() -> None:
    def total(key: str, value: dict[str, int], before: int | None) -> int | None:
        return None if value["n"] < 0 else (before or 0) + value["n"]

    fold = WindowFold(Fold(total, "bigint", initializer=int), None, ())
    bounds = {"window_start": 0, "window_end": 9}
    values = [{"n": each} for each in (4, -1, 2, 3)]
    assert fold("key", {**bounds, "values": values}) == {**bounds, "value": 5}
    assert fold("key", {**bounds, "values": None}) == {**bounds, "value": None}
    structs = WindowFold(Fold(lambda old, new: None, "n bigint"), None, ("n",))
    assert structs("key", {**bounds, "values": values[:1]}) == {**bounds, "n": 4}
    assert structs("key", {**bounds, "values": values[:2]}) == {**bounds, "n": None}


def test_a_topology_by_hand() -> None:
    app = App("app")
    topology = app.topology()
    topology.add_source("a", "a", value="string")
    topology.add_source("b", "b", value="string")
    topology.add_processor("copy", Copy, "a", "b", returns=("string", "string"))
    topology.add_sink("out", "out", "copy", "a")
    (sink,) = app.plan().sinks
    assert isinstance(sink.parents[0], Merge)
    copy = next(node for node in app.plan().walk() if isinstance(node, Process))
    assert copy.name == "copy"
    with pytest.raises(PlanError, match="there is 'a' already"):
        topology.add_source("a", "c", value="string")
    with pytest.raises(PlanError, match="there is 'copy' already"):
        topology.add_sink("copy", "c", "a")
    with pytest.raises(PlanError, match=r"no source or processor 'x' \(there are a, b"):
        topology.add_sink("s", "c", "x")
    with pytest.raises(PlanError, match="name the parents"):
        topology.add_sink("s", "c")
