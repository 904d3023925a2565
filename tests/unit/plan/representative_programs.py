"""Programs that between them use every operator, for tests over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.streams import (
    App,
    KStream,
    Processor,
    ProcessorContext,
    Record,
    avg,
    col,
    count,
    hopping,
    latest_by_offset,
    session,
    sliding,
    topk,
    tumbling,
    until_time_limit,
    within,
)

if TYPE_CHECKING:
    from collections.abc import Callable

READING = "id string, kind string, value double"


def stateless(app: App, readings: KStream) -> None:
    readings.filter("value > 1").filter_not("value > 5").to("filtered")
    readings.map_values("*", twice="value * 2").select_key("kind").to("mapped")
    readings.map(key="kind", value="value").repartition(2).to("moved")
    readings.flat_map_values("array(value)").merge(readings.map_values("value")).to("flat")
    readings.peek(lambda _value: None).to(col("kind"))


def python_functions(app: App, readings: KStream) -> None:
    low, high = readings.branch(lambda value: value["value"] < 1, "value > 5")
    low.map_values(lambda value: value["value"], returns="double").to("low")
    high.flat_map(lambda key, _value: [(key, 1)], returns=("string", "int")).to("high")


def sinks_of_all_kinds(app: App, readings: KStream) -> None:
    readings.to("copy")
    readings.to_files("folder")
    readings.print("readings")
    readings.for_each(lambda _value: None)
    readings.to_table().store("latest")


def several_topics(app: App, readings: KStream) -> None:
    more = app.stream(
        "a",
        "b",
        value_type="at bigint",
        timestamp_by="timestamp_millis(at)",
        dead_letter="malformed",
    )
    more.through("between").to("end")
    more.group_by_key().count().to_stream().to("counts")


def aggregates(app: App, readings: KStream) -> None:
    readings.group_by_key().count().to_stream().to("counts")
    readings.group_by("kind").aggregate(mean=avg("value"), n=count()).to_stream().to("means")
    readings.group_by_key().sum("value", emit="record").to_stream().to("sums")
    readings.group_by_key().max("value", name="highest").store("highest")
    readings.map_values("value").group_by_key().reduce("old + new").to_stream().to("reduced")


def windows(app: App, readings: KStream) -> None:
    minutes = readings.group_by_key().windowed_by(tumbling("1 minute").grace("5 seconds"))
    minutes.count().to_stream().to("minutes")
    minutes.min("value", late_to="late").to_stream().to("lowest")
    minutes.avg("value").suppress().to_stream().to("final")
    overlapping = readings.group_by("kind").windowed_by(hopping("1 hour", "10 minutes"))
    overlapping.aggregate(n=count(col("id"))).to_stream().to_files("hours")


def windows_of_records(app: App, readings: KStream) -> None:
    visits = readings.group_by_key().windowed_by(session("30 minutes").grace("1 minute"))
    visits.count().to_stream().to("visits")
    visits.max("value", late_to="late").suppress().to_stream().to("final")
    bursts = readings.group_by("kind").windowed_by(sliding("10 seconds"))
    bursts.count(emit="record").to_stream().to("bursts")


def aggregate_of_an_aggregate(app: App, readings: KStream) -> None:
    by_id = readings.group_by_key().count(name="per-id").to_stream()
    by_id.group_by("count").count().to_stream().to("histogram")


def tables(app: App, readings: KStream) -> None:
    units = app.table("units", value_type="unit string", key="string")
    places = app.global_table("places", value_type="place string")
    shown = units.filter("unit <> 'K'").map_values(unit="upper(unit)")
    enriched = readings.left_join(shown).join(places, on="kind", name="with-places")
    enriched.group_by_key().count().to_stream().to("out")
    shown.to_stream().to("units-shown")


def joins_with_results(app: App, readings: KStream) -> None:
    counts = readings.group_by("kind").count()
    readings.select_key("kind").join(counts, id="id", n="count").to("with-counts")
    own = readings.to_table(name="own")
    readings.join(own, lambda left, _right: left["id"], returns="string").to("own-values")


def joins_of_tables(app: App, readings: KStream) -> None:
    units, names = (app.table(t, value_type=f"{t} string") for t in ("units", "names"))
    latest = readings.to_table()
    described = latest.left_join(units, name="with-units").join(names, emit="record")
    described.filter("value > 1").to_stream().to("described")
    counts = readings.group_by_key().count()
    counts.outer_join(units, lambda left, _right: left["count"], returns="bigint").store("counts")


def joins_by_foreign_key(app: App, readings: KStream) -> None:
    units, names = (app.table(t, value_type=f"{t} string") for t in ("units", "names"))
    named = readings.to_table().left_join(names, foreign_key="kind", name="with-names")
    named.join(units, foreign_key="concat(kind, 'x')", emit="record").to_stream().to("named")


def held_back(app: App, readings: KStream) -> None:
    limit = until_time_limit("10 seconds").max_records(100).shut_down_when_full()
    readings.to_table().suppress(limit, name="seldom").to_stream().to("seldom")
    minutes = readings.group_by_key().windowed_by(tumbling("1 minute"))
    minutes.count().suppress(until_time_limit("5 seconds").max_bytes(9)).to_stream().to("less")


def aggregates_of_tables(app: App, readings: KStream) -> None:
    latest = readings.to_table()
    of_kind = latest.group_by("kind").aggregate(mean=avg("value"), n=count(), name="kinds")
    of_kind.to_stream().to("kinds")
    values = latest.map_values("value").group_by("round(value) AS about", "key AS id")
    values.reduce("old + new", undo="old - new", emit="record").store("values")


def joins_of_streams(app: App, readings: KStream) -> None:
    notes = app.stream("notes", value_type="note string")
    readings.join(notes, window=within("2 minutes")).to("inner")
    readings.left_join(notes, window=within("90 seconds").grace("1 minute")).to("left")
    both = readings.outer_join(notes, window=within("1 second"), name="both")
    both.group_by_key().count().to_stream().to("counted")


def collected_values(app: App, readings: KStream) -> None:
    results = {"last": latest_by_offset("value", 3), "top": topk("value", 2, "id")}
    readings.group_by_key().aggregate(results).to_stream().to("collected")
    units = app.table("units", value_type="unit string")
    shown = units.filter("unit <> 'K'", remember=True)
    shown.to_stream().to("units-shown")


class Sums(Processor):
    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.sum = context.value_store("sum", "double", ttl="1 hour")
        self.last = context.list_store("last", "double")
        self.of_kinds = context.map_store("of-kinds", "string", "double")

    def process(self, record: Record) -> None:
        self.context.forward(record.value)


def processors(app: App, readings: KStream) -> None:
    topology = app.topology()
    topology.add_source("source", "more", value_type=READING)
    topology.add_processor("sums", Sums, "source", returns=("string", READING))
    topology.add_sink("sink", "sums", "sums")
    readings.transform_values(Sums, returns=READING).group_by_key().count().store("values")


_PROGRAMS: tuple[Callable[[App, KStream], None], ...] = (
    stateless, python_functions, sinks_of_all_kinds, several_topics, aggregates, windows,
    windows_of_records, aggregate_of_an_aggregate, tables, joins_with_results, joins_of_tables,
    joins_by_foreign_key, held_back, processors, aggregates_of_tables, joins_of_streams,
    collected_values,
)  # fmt: skip

PROGRAMS = {program.__name__: program for program in _PROGRAMS}


def app_of(name: str) -> App:
    """Return one of the programs, ready to be planned."""
    app = App("app")
    PROGRAMS[name](app, app.stream("readings", value_type=READING))
    return app
