"""What a program keeps differently for each guarantee, as Spark's own state shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from headwater.plan.splitting.stages import split
from headwater.spark.guarantees import bound_to_guarantee
from headwater.streams import App, hopping, tumbling, within

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.streams import KStream

READING = "value bigint, timestamp timestamp"


def _bound(program: Callable[[KStream], None], **settings: str) -> list[str]:
    app = App("app", **settings)  # type: ignore[arg-type]
    program(app.stream("readings", value_type=READING))
    return [bound.reason.partition(" ")[0] for bound in bound_to_guarantee(split(app.plan()))]


def counts(stream: KStream) -> KStream:
    return stream.group_by_key().count().to_stream()


def two_queries(stream: KStream) -> None:
    for topic in ("a", "b"):
        counts(stream).map_values(lambda value: value["count"], returns="bigint").to(topic)


@pytest.mark.parametrize(
    "program",
    [
        lambda stream: counts(stream).to("out"),
        lambda stream: counts(stream).filter("count > 1").to("out"),
        # A field of that name is not the record's own time.
        lambda stream: (
            counts(stream).map_values(timestamp="count").filter("timestamp > 1").to("out")
        ),
        lambda stream: (
            stream.group_by_key().windowed_by(tumbling("1 minute")).count().to_stream().to("out")
        ),
        lambda stream: counts(stream).merge(counts(stream).filter("count > 1")).to("out"),
        lambda stream: stream.group_by_key().count().store("counts"),
    ],
)
def test_times_that_only_the_sink_needs_are_in_one_state_alone(
    program: Callable[[KStream], None],
) -> None:
    assert set(_bound(program)) == {"this"}


def test_every_query_counts() -> None:
    assert _bound(two_queries) == ["this", "this"]


@pytest.mark.parametrize(
    "program",
    [
        lambda stream: stream.filter("value > 1").to("out"),
        lambda stream: counts(stream).map_values("*", at="record.timestamp").to("out"),
        lambda stream: (
            stream.group_by_key()
            .windowed_by(tumbling("1 minute"))
            .count()
            .to_stream()
            .to_files("folder")
        ),
        lambda stream: stream.group_by_key().reduce("old").to_stream().to("out"),
        lambda stream: (
            stream.group_by_key()
            .windowed_by(hopping("2 minutes", "1 minute"))
            .count()
            .to_stream()
            .to("out")
        ),
        lambda stream: stream.join(stream, value="left.value", window=within("1 minute")).to("out"),
        lambda stream: stream.join(stream.to_table(), value="left.value").to("out"),
    ],
)
def test_what_is_kept_in_one_way_is_free(program: Callable[[KStream], None]) -> None:
    assert _bound(program) == []


def test_sinks_that_share_a_query_get_whole_records() -> None:
    def program(stream: KStream) -> None:
        shared = counts(stream)
        shared.to("all")
        shared.filter("count > 1").to("many")

    assert _bound(program) == []


def test_an_aggregate_that_emits_each_change_is_free() -> None:
    assert _bound(lambda stream: counts(stream).to("out"), emit="record") == []


def test_malformed_records_that_one_query_writes_are_bound() -> None:
    app = App("app")
    stream = app.stream("readings", value_type=READING, dead_letter="dead")
    stream.to("out")
    (bound,) = bound_to_guarantee(split(app.plan()))
    assert str(bound).startswith("tests/unit/spark/test_spark_guarantees.py:")
    assert "malformed records have a query of their own with 'at_least_once'" in bound.reason


def test_malformed_records_beside_two_queries_are_free() -> None:
    app = App("app")
    stream = app.stream("readings", value_type=READING, dead_letter="dead")
    for topic in ("a", "b"):
        stream.flat_map_values("array(value)").to(topic)
    assert bound_to_guarantee(split(app.plan())) == ()
