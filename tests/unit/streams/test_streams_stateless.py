"""The stateless half of a stream: what each operator puts into the plan, and what it refuses."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.plan.expressions.python_function import PythonFunction
from headwater.plan.expressions.scope import Scope
from headwater.plan.nodes import (
    Branch,
    FileSink,
    Filter,
    FlatMap,
    ForEachSink,
    Map,
    Merge,
    PrintSink,
    Repartition,
    TopicSink,
)
from headwater.streams import App, ExpressionError, KStream, PlanError, col, lit


@dataclass
class Place:
    hall: int


@dataclass
class Reading:
    id: str
    value: float
    place: Place | None = None


@pytest.fixture
def app() -> App:
    return App("app")


@pytest.fixture
def readings(app: App) -> KStream:
    return app.stream("readings", value_type=Reading)


def _sql(operand: Any, stream: KStream) -> str:
    return str(operand.sql(Scope.of_record(stream.row)))


def test_filters(readings: KStream) -> None:
    kept = readings.filter(col("value") > 1)
    assert isinstance(kept.node, Filter)
    assert kept.node.parents == (readings.node,)
    assert kept.row == readings.row
    assert _sql(kept.node.predicate, readings) == "(value.`value` > 1)"
    rest = readings.filter_not("value > 1")
    assert isinstance(rest.node, Filter)
    # What is neither true nor false belongs to the rest.
    assert _sql(rest.node.predicate, readings) == "(NOT coalesce((value.`value` > 1), false))"


def test_a_function_gets_the_dataclass_and_says_its_type_itself(readings: KStream) -> None:
    def scaled(reading: Reading) -> Reading:
        assert reading.place is None or isinstance(reading.place, Place)
        return Reading(reading.id, reading.value * 2, reading.place)

    mapped = readings.map_values(scaled)
    assert isinstance(mapped.node, Map)
    function = mapped.node.value
    assert isinstance(function, PythonFunction)
    assert function.returns == readings.row.value
    given_value = {"id": "a", "value": 1.5, "place": {"hall": 3}}
    assert function("k", given_value) == {"id": "a", "value": 3.0, "place": {"hall": 3}}
    again = mapped.filter(lambda reading: reading.value > 1)
    assert isinstance(again.node, Filter)
    assert isinstance(again.node.predicate, PythonFunction)
    assert again.node.predicate("k", given_value) is True


def test_a_function_of_two_gets_the_key(readings: KStream) -> None:
    named = readings.map_values(lambda key, reading: f"{key}={reading.value}", returns=str)
    assert isinstance(named.node, Map)
    assert isinstance(named.node.value, PythonFunction)
    assert named.node.value("k", {"id": "a", "value": 1.0}) == "k=1.0"
    refused = readings.filter_not(lambda key, reading: key == "k")
    assert isinstance(refused.node, Filter)
    assert isinstance(refused.node.predicate, PythonFunction)
    assert refused.node.predicate("k", {"id": "a", "value": 1.0}) is False


def test_values_by_expression(readings: KStream) -> None:
    assert readings.map_values("value * 2").row.value.ddl() == "double"
    fields = readings.map_values("*", unit=lit("kW"), value="cast(value as int)")
    assert fields.row.value.ddl() == (
        "struct<id:string,value:int,place:struct<hall:bigint>,unit:string>"
    )
    assert readings.map_values(hall="place.hall").row.value.ddl() == "struct<hall:bigint>"
    assert readings.map_values("mystery(id)", returns="int").row.value.ddl() == "int"


def test_only_what_may_change_the_key_needs_a_repartition(readings: KStream) -> None:
    for keeps in (
        readings.filter("value > 1"),
        readings.map_values("value"),
        readings.flat_map_values("split(id, '-')"),
        readings.peek(print),
        readings.select_key("id").repartition(),
        readings.merge(readings.filter("value > 1")),
        readings.select_key("id").group_by_key().count().to_stream(),
    ):
        assert not keeps.node.needs_repartition
    for changes in (
        readings.map(key="id", value="value"),
        readings.map(lambda value: (value.id, 1), returns=(str, int)),
        readings.flat_map(lambda value: [(value.id, 1)], returns=(str, int)),
        readings.select_key("id"),
        readings.select_key("id").filter("value > 1").map_values("value"),
        readings.merge(readings.select_key("id")),
    ):
        assert changes.node.needs_repartition


def test_pairs(readings: KStream) -> None:
    def pair(value: Reading) -> tuple[str, Reading]:
        return value.id, value

    mapped = readings.map(pair)
    assert mapped.row.value == readings.row.value
    assert isinstance(mapped.node, Map)
    assert mapped.node.pair is not None
    assert mapped.node.pair("k", {"id": "a", "value": 1.0})["key"] == "a"
    many = readings.flat_map(lambda k, v: [(k, 1), (v.id, 2)], returns=("string", "int"))
    assert isinstance(many.node, FlatMap)
    assert isinstance(many.node.items, PythonFunction)
    assert many.node.items("k", {"id": "a", "value": 1.0}) == [
        {"key": "k", "value": 1},
        {"key": "a", "value": 2},
    ]
    assert many.row.value.ddl() == "int"


def test_words(app: App) -> None:
    def words(line: str) -> list[str]:
        return line.split()

    lines = app.stream("lines", value="string")
    for found in (lines.flat_map_values(words), lines.flat_map_values("split(value, ' ')")):
        assert isinstance(found.node, FlatMap)
        assert not found.node.keyed
        assert found.row.value.ddl() == "string"


def test_the_first_condition_that_is_met_takes_the_record(readings: KStream) -> None:
    branches = readings.split(high="value > 10", low="value > 1")
    assert list(branches) == ["high", "low", "default"]
    low = branches["low"].node
    assert isinstance(low, Filter)
    rest = low.parents[0]
    assert isinstance(rest, Filter)
    assert _sql(rest.predicate, readings) == "(NOT coalesce((value.`value` > 10), false))"


def test_functions_of_a_split_are_asked_in_one_place(readings: KStream) -> None:
    high, low = readings.branch("value > 1", lambda v: v.id == "a")
    assert isinstance(low.node, Branch)
    assert low.node.index == 1
    assert low.node.split is high.node.parents[0]
    assert len(low.node.split.conditions) == 2
    with pytest.raises(ExpressionError, match="a condition is boolean, this is string"):
        readings.branch("id", lambda v: v.id == "a")


def test_merging_needs_equal_types(readings: KStream) -> None:
    merged = readings.merge(readings.filter("value > 1"), readings.filter("value < 0"))
    assert isinstance(merged.node, Merge)
    assert len(merged.node.parents) == 3
    with pytest.raises(ExpressionError, match="the values of merged streams: double is not struct"):
        readings.merge(readings.map_values("value"))


def test_ends(app: App, readings: KStream) -> None:
    readings.peek(print).to("a")
    readings.print("label")
    readings.for_each(print)
    readings.to_files("folder")
    readings.to(col("id"))
    kinds = [type(sink) for sink in app.plan().sinks]
    assert kinds == [TopicSink, PrintSink, ForEachSink, FileSink, TopicSink]
    assert isinstance(readings.repartition(4).node, Repartition)


def test_formats_follow_the_types(app: App, readings: KStream) -> None:
    readings.to("a")
    readings.map_values("value").to("b")
    readings.select_key("1L").map_values("id").to("c")
    avro = app.stream("other", value="avro", value_type=Reading)
    avro.map_values("*", n="1").to("d")
    readings.to("e", key="json", value="jsonschema")
    formats = [
        (sink.key_format.kind, sink.value_format.kind)
        for sink in app.plan().sinks
        if isinstance(sink, TopicSink)
    ]
    assert formats == [
        ("string", "json"),
        ("string", "double"),
        ("long", "string"),
        ("string", "avro"),
        ("json", "jsonschema"),
    ]


def test_errors_name_the_users_line(readings: KStream) -> None:
    with pytest.raises(ExpressionError) as refused:
        readings.filter("valeu > 1")
    line = refused.tb.tb_lineno
    assert str(refused.value) == (
        f"tests/unit/streams/test_streams_stateless.py:{line}: there is no 'valeu' here (there "
        "are id, value, place, key, timestamp, headers, topic, partition, offset); "
        "did you mean 'value'?"
    )


@pytest.mark.parametrize(
    ("build", "reason"),
    [
        (lambda s: s.filter("value"), "a condition is boolean, this is double"),
        (lambda s: s.filter(5), "write a constant as lit(5)"),
        (lambda s: s.map_values(lambda v: v), "does not say what it returns"),
        (lambda s: s.map_values(lambda a, b, c: 1, returns=int), "takes 3 arguments"),
        (lambda s: s.map_values("value", id="id"), "one value, or named fields"),
        (lambda s: s.map_values(), "needs a value"),
        (lambda s: s.map_values("value").map_values("*", a="1"), "'*' stands for fields"),
        (lambda s: s.map_values(a="mystery(id)"), "returns="),
        (lambda s: s.map_values("id", returns="strin"), "there is no type 'strin'"),
        (lambda s: s.map(key="id"), "map takes key= and value="),
        (lambda s: s.map(lambda v: v, returns=(str,)), "must return a key and a value"),
        (lambda s: s.flat_map_values("id"), "takes an array, this is string"),
        (lambda s: s.flat_map("array(value)"), "array of structs of key and value"),
        (lambda s: s.select_key("null"), "always null"),
        (lambda s: s.to("x", value="string"), "writes string: cast it"),
        (lambda s: s.to("x", value="arvo"), "there is no format 'arvo'"),
        (lambda s: s.to(col("value")), "the name of a topic is a string"),
        (lambda s: s.repartition(0), "at least one partition"),
        (lambda s: s.split(default="value > 1"), "'default' is the stream of"),
        (lambda s: s.branch(), "at least one condition"),
        (lambda s: s.for_each("print"), "is no function"),
    ],
)
def test_what_is_refused(readings: KStream, build: Any, reason: str) -> None:
    with pytest.raises(PlanError) as refused:
        build(readings)
    assert reason in str(refused.value)
    assert refused.value.location.startswith("tests/unit/streams/test_streams_stateless.py:")


@given(st.lists(st.sampled_from(["filter", "values", "key", "peek", "repartition"]), max_size=12))
def test_numbers_follow_the_program_and_repartitions_the_key(steps: list[str]) -> None:
    stream = App("app").stream("readings", value_type="id string, value double")
    changed = False
    for number, step in enumerate(steps, start=1):
        match step:
            case "filter":
                stream = stream.filter("value > 1")
            case "values":
                stream = stream.map_values("*", extra="1")
            case "key":
                stream, changed = stream.select_key("id"), True
            case "peek":
                stream = stream.peek(print)
            case "repartition":
                stream, changed = stream.repartition(), False
        assert stream.node.number == number
        assert stream.node.needs_repartition == changed
