"""Fields of records: found, named, looked up, picked as columns."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import pytest

from headwater.console.model.records.decoding import NULL, Decoded, Decoder
from headwater.console.model.records.fields import (
    MISSING,
    MOST_COLUMNS,
    columns_of,
    described,
    fields_in,
    look_up,
    shown,
    to_copy,
)
from headwater.console.model.records.records import Record
from headwater.serde import Context


def _decoded(value: object) -> Decoded:
    return Decoder(None).decode_bytes(json.dumps(value).encode(), Context("t"))


def _record(value: object, *headers: str) -> Record:
    told = tuple((name, _decoded(name)) for name in headers)
    return Record("t", 0, 7, 9, NULL, _decoded(value), told)


ORDER = _record({"id": 7, "of": {"city": "Graz", "ab c": 1, "x.y": 2}, "items": [1]}, "a.b", "<i>")


def test_fields_that_can_be_picked_can_be_looked_up() -> None:
    found = fields_in([ORDER, _record({"paid": None})])
    assert found == ["key", "value.id", "value.of.city", "value.items", "value.paid", "headers.a.b"]
    assert columns_of(",".join(found)) == tuple(found)
    assert [look_up(ORDER, name) for name in found] == [None, 7, "Graz", [1], MISSING, "a.b"]


def test_only_so_many_are_offered() -> None:
    wide = _record({f"f{number}": 1 for number in range(5_000)})
    assert len(fields_in([wide])) == 200
    deep: object = 1
    for _ in range(50):
        deep = {"in": deep}
    assert fields_in([_record(deep)]) == ["key", "value" + ".in" * 6]


def test_of_a_large_field_only_the_beginning_is_written() -> None:
    class Endless(dict[str, int]):
        def items(self) -> Any:
            return ((str(number), number) for number in count())

    assert shown(Endless(a=1), 20) == '{"0": 0, "1": 1, "2"'
    assert shown("a" * 30, 20) == "a" * 20
    assert shown([1], 20) == "[1]"
    values: list[Any] = [[1, "ä", {"a": None}], {}, 7, None, object]
    for value in values:
        assert shown(value, 1000) == shown(value)


def test_of_a_large_record_what_is_shown_is_copied() -> None:
    key = Decoded("JSON", "[1]", [1], 3)
    for size, copied in ((200 * 1024, {"all": "of it"}), (300 * 1024, '{"all')):
        value = Decoded("Avro", '{"all', {"all": "of it"}, size, schema_id=1, is_cut=True)
        record = to_copy(Record("t", 0, 7, 9, key, value, ()))
        assert (record.key.value, record.value.value) == ([1], copied)


def test_a_record_with_the_columns_that_it_has() -> None:
    picked = described(ORDER, ["value.of.city", "value.none"])
    place = {"topic": "t", "partition": 0, "offset": 7, "timestamp": 9}
    assert picked == {**place, "value.of.city": "Graz"}
    assert set(described(ORDER)) == {*place, "key", "value", "headers"}


@pytest.mark.parametrize(
    "text", ["offset", "valu.id", "value.a b", "<b>", ",".join(f"value.f{n}" for n in range(21))]
)
def test_what_is_no_column(text: str) -> None:
    with pytest.raises(ValueError, match=rf"is no column|{MOST_COLUMNS} are the most"):
        columns_of(text)
