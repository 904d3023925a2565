"""State stores that several processors share, as they are built."""

from __future__ import annotations

from typing import Any

import pytest

from headwater.plan.nodes import Process, StoreSink
from headwater.plan.processing.processor_group import ProcessorGroup
from headwater.plan.splitting.fingerprint import fingerprint_of
from headwater.plan.splitting.stages import split
from headwater.streams import (
    App,
    PlanError,
    Processor,
    ProcessorContext,
    PunctuationType,
    Record,
    list_store,
    map_store,
    value_store,
)


class Reading(Processor):
    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.seen = context.state_store("seen")

    def process(self, record: Record) -> None:
        self.context.forward(record.value)


class Writing(Reading):
    pass


class ByTheClock(Reading):
    punctuation_type = PunctuationType.WALL_CLOCK_TIME


class WithItsOwn(Reading):
    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.own = context.value_store("own", "bigint")


class OtherWithItsOwn(WithItsOwn):
    pass


class WithCounts(Reading):
    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.counts = context.state_store("counts")


class WithoutStore(Processor):
    def process(self, record: Record) -> None:
        pass


def test_processors_that_share_a_store_are_one_operator() -> None:
    app = App("app")
    app.add_state_store(value_store("seen", "bigint"), look_ups=True)
    app.add_state_store(map_store("unused", "string", "bigint"))
    numbers = app.stream("numbers", value_type="n bigint")
    numbers.process(Writing, returns=("string", "n bigint"))
    read = app.stream("others", value_type="m bigint").transform_values(Reading, returns="m bigint")
    read.to("out")
    assert app.stores.names == ("seen",)
    (stage,) = split(app.plan())
    (together,) = stage.stateful
    assert isinstance(together, Process)
    assert together.processor_name == "Writing, Reading"
    assert [store.name for store in together.stores] == ["seen", "headwater-timers"]
    assert fingerprint_of((stage,)).parts == (
        ("seen-processors: reads", "stream numbers, stream others"),
        (
            "seen-processors: state 1",
            "processor by string with [seen (value of bigint), headwater-timers (map of string to "
            "boolean)]",
        ),
    )
    assert [sink.topic for sink in stage.sinks if isinstance(sink, StoreSink)] == [
        "app-seen-changelog"
    ]


def test_lists_and_maps_are_looked_up_whole() -> None:
    app = App("app")
    app.add_state_store(list_store("seen", "int"), look_ups=True)
    app.add_state_store(map_store("counts", "bigint", "string"), look_ups=True)
    _process(_numbers(app), WithCounts).to("out")
    (stage,) = split(app.plan())
    rows = {sink.store: sink.row.value.ddl() for sink in stage.sinks if isinstance(sink, StoreSink)}
    assert rows == {"seen": "array<int>", "counts": "map<bigint,string>"}


def test_a_topic_fills_a_store() -> None:
    app = App("app")
    app.add_read_only_state_store(value_store("seen", "m bigint"), "others", look_ups=True)
    numbers = app.stream("numbers", value_type="n bigint")
    numbers.transform_values(Reading, returns="n bigint").to("out")
    (stage,) = split(app.plan())
    assert [(source.kind, source.topics) for source in stage.topic_sources] == [
        ("table", ("others",)),
        ("stream", ("numbers",)),
    ]
    (together,) = stage.stateful
    assert isinstance(together, Process)
    assert isinstance(together.supplier, ProcessorGroup)
    assert together.supplier.updaters == (("seen", 0),)
    assert app.stores.names == ("seen",)


def test_a_store_that_one_asks_for_is_its_own() -> None:
    app = App("app")
    app.add_state_store(value_store("seen", "bigint", ttl="1 hour"))
    numbers = app.stream("numbers", value_type="n bigint")
    numbers.process(Reading, returns=("string", "n bigint")).to("out")
    (node,) = (each for each in app.plan().walk() if isinstance(each, Process))
    assert node.supplier is Reading
    assert [store.ttl_ms for store in node.stores] == [3_600_000]


def test_topologies_by_hand_share_stores_too() -> None:
    topology = (app := App("app")).topology()
    topology.add_source("a", "a", value_type="n bigint")
    topology.add_processor("one", Writing, "a", returns=("string", "n bigint"))
    topology.add_processor("two", Reading, "one", "a", returns=("string", "n bigint"))
    topology.add_sink("out", "out", "two")
    topology.add_state_store(value_store("seen", "bigint"))
    (node,) = (each for each in app.plan().walk() if isinstance(each, Process))
    assert node.processor_name == "Writing, Reading"
    with pytest.raises(AttributeError, match="a processor that asks for a store has it"):
        topology.connectProcessorAndStateStores("one", "seen")  # type: ignore[attr-defined]


def _numbers(app: App, topic: str = "numbers") -> Any:
    return app.stream(topic, value_type="n bigint")


def _process(stream: Any, supplier: type[Processor], **options: Any) -> Any:
    return stream.process(supplier, returns=("string", "n bigint"), **options)


def _planned(build: Any) -> None:
    app = App("app")
    build(app)
    app.plan()


def _not_added(app: App) -> None:
    _process(_numbers(app), Reading).to("out")


def _twice(app: App) -> None:
    app.add_state_store(value_store("seen", "bigint"))
    app.add_state_store(list_store("seen", "bigint"))


def _other_keys(app: App) -> None:
    app.add_state_store(value_store("seen", "bigint"))
    _process(_numbers(app), Writing).to("out")
    _process(app.stream("a", key="long", value_type="n bigint"), Reading).to("out2")


def _other_clock(app: App) -> None:
    app.add_state_store(value_store("seen", "bigint"))
    for supplier in (Writing, ByTheClock):
        _process(_numbers(app), supplier).to("out")


def _one_name_for_two(app: App) -> None:
    app.add_state_store(value_store("seen", "bigint"))
    for supplier in (WithItsOwn, OtherWithItsOwn):
        _process(_numbers(app), supplier).to("out")


def _by_way_of_others(app: App) -> None:
    app.add_state_store(value_store("seen", "bigint"))
    written = _process(_numbers(app), Writing)
    _process(written.filter("n > 1"), Reading).to("out")


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (_not_added, r"Reading asks for the store 'seen', which was not added: .*none yet"),
        (_twice, "there is a store 'seen' already"),
        (_other_keys, "Reading has keys of the type bigint and shares 'seen' with Writing"),
        (_other_clock, "ByTheClock goes by wall-clock time and shares 'seen' with Writing"),
        (_one_name_for_two, "OtherWithItsOwn has a store 'own' of its own, and so has WithItsOwn"),
        (_by_way_of_others, "Reading shares 'seen' with Writing .* by way of other operators"),
        (lambda app: app.add_state_store("seen"), "'seen' is no store"),
        (lambda app: app.add_state_store(value_store("a b", "int")), "'a b' cannot name a store"),
        (
            lambda app: app.add_state_store(map_store("seen", "a int", "int"), look_ups=True),
            "the store 'seen' has keys that are struct<a:int>: look-ups are written as JSON",
        ),
        (
            lambda app: app.add_state_store(value_store("s", "int", ttl="1 s"), look_ups=True),
            "the store 's' forgets after ttl",
        ),
        (
            lambda app: app.add_read_only_state_store(list_store("seen", "int"), "topic"),
            "the store 'seen' is a list: give a processor that fills it",
        ),
        (
            lambda app: app.add_read_only_state_store(
                value_store("seen", "int"), "topic", value_type="n int"
            ),
            "has the values of topic, which are struct<n:int> and not int",
        ),
        (
            lambda app: app.add_read_only_state_store(
                list_store("seen", "int"), "topic", WithoutStore, value_type="n int"
            ),
            "WithoutStore fills the store 'seen' from its topic: its init asks for it",
        ),
    ],
)
def test_what_is_refused(build: Any, reason: str) -> None:
    with pytest.raises(PlanError, match=reason) as refused:
        _planned(build)
    assert refused.value.location.startswith("tests/unit/streams/test_streams_shared_stores.py:")
