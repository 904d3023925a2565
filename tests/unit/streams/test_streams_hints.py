"""Names of Kafka Streams that are other ones here, or not there yet, get a hint."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from tests.docs_page import ROOT

from headwater.streams import (
    App,
    GlobalKTable,
    KGroupedStream,
    KStream,
    KTable,
    PlanError,
    col,
    count,
    struct,
)
from headwater.streams.hints import NOT_YET

PAGE = ROOT / "docs" / "not-yet.md"
CLASSES = {each.__name__: each for each in (App, KStream, KGroupedStream, KTable, GlobalKTable)}


def _things() -> dict[str, Any]:
    app = App("app")
    stream = app.stream("readings", value_type="id string, name string")
    return {
        "App": app,
        "KStream": stream,
        "KGroupedStream": stream.group_by_key(),
        "KTable": app.table("units", value_type="unit string, name string"),
    }


@pytest.mark.parametrize(
    ("owner", "name", "here"),
    [
        ("KStream", "groupByKey", "group_by_key"),
        ("KStream", "mapValues", "map_values"),
        ("KStream", "flatMapValues", "flat_map_values"),
        ("KStream", "leftJoin", "left_join"),
        ("KStream", "foreach", "for_each"),
        ("KStream", "toTable", "to_table"),
        ("KGroupedStream", "windowedBy", "windowed_by"),
        ("KTable", "toStream", "to_stream"),
        ("App", "globalTable", "global_table"),
    ],
)
def test_names_of_kafka_streams(owner: str, name: str, here: str) -> None:
    with pytest.raises(AttributeError, match=f"^{owner} has no '{name}': here it is '{here}'$"):
        getattr(_things()[owner], name)


def test_how_a_program_is_run() -> None:
    with pytest.raises(AttributeError, match=r"run by the command: headwater run program\.py"):
        _ = _things()["App"].start


def test_what_is_nowhere_is_said_as_python_says_it() -> None:
    stream = _things()["KStream"]
    assert not hasattr(stream, "fliter")
    with pytest.raises(AttributeError, match=r"^'KStream' object has no attribute 'fliter'$"):
        _ = stream.fliter
    assert copy.copy(stream).row == stream.row


@pytest.mark.parametrize(
    ("owner", "name"), [(owner, name) for owner, names in NOT_YET.items() for name in names]
)
def test_what_is_not_there_yet_says_so(owner: str, name: str) -> None:
    assert not hasattr(CLASSES[owner], name), "it is there now: take it out of the list"
    with pytest.raises(AttributeError, match=rf"^{owner}\.{name} is not there yet \(see docs/"):
        getattr(_things()[owner], name)


def test_the_page_lists_what_is_not_there_yet() -> None:
    listed = set(re.findall(r"`(\w+)\.(\w+)`", PAGE.read_text("utf-8")))
    assert {(o, n) for o, n in listed if o in CLASSES} == {
        (owner, name) for owner, names in NOT_YET.items() for name in names
    }


@pytest.mark.parametrize(
    "program",
    [
        lambda s, t: s.join(t, id="left.id", name="right.name"),
        lambda s, t: s.join(t, name="unit"),
        lambda s, t: s.left_join(t, id="left.id", name="upper(unit)"),
        lambda s, t: s.join(t, id="left.id", name=col("right.name")),
        lambda s, _: s.map_values(id="id", name="name"),
        lambda s, _: s.map_values("*", name="upper(name)"),
        lambda _, t: t.map_values(name="name"),
        lambda s, _: s.group_by_key().aggregate(n=count(), name=count()),
        lambda s, _: s.group_by_key().reduce(id="new.id", name="new.name"),
    ],
)
def test_a_field_that_is_called_name_is_not_taken_for_the_operators(program: Any) -> None:
    things = _things()
    with pytest.raises(PlanError, match=r":\d+: name=.*: this names the operator. A field"):
        program(things["KStream"], things["KTable"])


def test_operators_have_names_and_fields_are_called_name() -> None:
    stream, table = _things()["KStream"], _things()["KTable"]
    named = stream.join(table, id="left.id", name="with-units")
    assert named.node.name == "with-units"
    both = stream.join(table, struct(id="left.id", name="right.name"), name="name")
    assert (both.node.name, both.row.value.names) == ("name", ("id", "name"))
    counted = stream.group_by_key().aggregate({"name": count()}, name="names")
    assert (counted.node.name, counted.row.value.names) == ("names", ("name",))
