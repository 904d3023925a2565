"""Keys sort in a store as their values do, come back as they were, and are refused by type."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.plan.formats import Format
from headwater.plan.schemas.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Map,
    Struct,
)
from headwater.stores import FollowedTable, Side, StoreValueError, UnsupportedKeyError
from headwater.stores.keys import KeyCodec, parsed
from headwater.stores.ordered_bytes import datetime_of

_TIMES = st.integers(-(2**50), 2**50).map(datetime_of)
_OF_TYPE: list[tuple[DataType, st.SearchStrategy[Any]]] = [
    (STRING, st.text()),
    (BINARY, st.binary()),
    (BOOLEAN, st.booleans()),
    (BIGINT, st.integers(-(2**63), 2**63 - 1)),
    (DOUBLE, st.floats(allow_nan=False)),
    (DATE, st.dates()),
    (TIMESTAMP, _TIMES),
    (Array(BIGINT), st.lists(st.integers(-5, 5), max_size=3)),
]
ORDER = Struct.of(shop=STRING, number=BIGINT, place=Struct.of(x=DOUBLE, tags=Array(STRING)))


def codec(type_: DataType, kind: str = "json") -> KeyCodec:
    side = Side(Format(kind), type_)
    return KeyCodec(FollowedTable("store", "topic", side, Side(Format("string"), STRING)), None)


@pytest.mark.parametrize(("type_", "values"), _OF_TYPE, ids=lambda each: getattr(each, "name", ""))
@given(data=st.data())
def test_keys_sort_as_their_values_and_come_back(
    type_: DataType, values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    keys = codec(type_)
    one, other = data.draw(values), data.draw(values)
    if isinstance(one, str):
        # As Kafka's clients write them, which is how code points are ordered.
        assert (keys.of(one) < keys.of(other)) == (one.encode() < other.encode())
    else:
        assert (keys.of(one) < keys.of(other)) == (one < other)
    assert keys.key(keys.of(one)) == one


@given(st.lists(st.tuples(st.text("ab\0", max_size=3), st.none() | st.integers(-3, 3)), min_size=2))
def test_structs_sort_by_their_fields_and_nulls_come_first(rows: list[tuple[str, Any]]) -> None:
    keys = codec(Struct.of(name=STRING, number=BIGINT))
    named = [{"name": name, "number": number} for name, number in rows]
    ordered = sorted(map(keys.of, named))
    wanted = sorted(rows, key=lambda row: (row[0], -9 if row[1] is None else row[1]))
    assert [tuple(keys.key(each).values()) for each in ordered] == wanted
    first, end = keys.beginning_with({"name": rows[0][0]})
    within = [each for each in ordered if first <= each < end]
    assert len(within) == sum(name == rows[0][0] for name, _ in rows)


def test_nested_keys_come_back() -> None:
    key = {"shop": "a", "number": 3, "place": {"x": 1.0, "tags": ["b", None]}}
    assert codec(ORDER).key(codec(ORDER).of(key)) == key
    assert codec(ORDER).key(codec(ORDER).of({"shop": "a"}))["place"] is None


def test_a_prefix_of_bytes_ends_where_the_next_begins() -> None:
    keys = codec(BINARY, "bytes")
    first, end = keys.beginning_with(b"a\xff")
    assert first <= keys.of(b"a\xff\xff\xff") < end <= keys.of(b"b")


@pytest.mark.parametrize(
    ("kind", "type_", "data", "key"),
    [
        ("string", STRING, "ä\0".encode(), "ä\0"),
        ("long", BIGINT, (258).to_bytes(8, "big"), 258),
        ("bytes", BINARY, b"\0\xff", b"\0\xff"),
        ("json", ORDER, b'{"number": 1, "shop":"a"}', {"shop": "a", "number": 1, "place": None}),
        ("json", TIMESTAMP, b'"2026-01-01T00:00:00.000Z"', dt.datetime(2026, 1, 1, tzinfo=dt.UTC)),
        ("json", DOUBLE, b"1", 1.0),
    ],
)
def test_records_have_the_keys_that_are_looked_up(
    kind: str, type_: DataType, data: bytes, key: Any
) -> None:
    keys = codec(type_, kind)
    assert keys.of_record(data) == keys.of(key)
    assert keys.key(keys.of_record(data)) == key


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b'{"number":"many"}'])
def test_records_with_other_keys_are_refused(data: bytes) -> None:
    with pytest.raises(StoreValueError, match="topic, key: it is no JSON struct"):
        codec(ORDER).of_record(data)


@pytest.mark.parametrize(
    ("type_", "key", "reason"),
    [
        (STRING, 1, "the key is string, and 1 is none"),
        (BIGINT, "1", "the key is bigint, and '1' is none"),
        (BIGINT, 2**63, "no number of 64 bits"),
        (ORDER, "a", "a dict with the fields shop, number, place"),
        (ORDER, {"shops": "a"}, "a dict with the fields shop, number, place"),
        (ORDER, {"shop": 1}, "'shop' of the key is string, and 1 is none"),
    ],
)
def test_look_ups_by_other_types_are_refused(type_: DataType, key: Any, reason: str) -> None:
    with pytest.raises(StoreValueError, match=reason):
        codec(type_).of(key)


def test_a_prefix_is_a_text_or_first_fields() -> None:
    with pytest.raises(StoreValueError, match="keys of type bigint have no prefix: use range"):
        codec(BIGINT).beginning_with(1)
    with pytest.raises(StoreValueError, match="give the first ones of them, in this order"):
        codec(ORDER).beginning_with({"number": 1})


@pytest.mark.parametrize(
    ("type_", "text", "key"),
    [
        (STRING, "17", "17"),
        (BIGINT, "17", 17),
        (DATE, "2026-01-02", dt.date(2026, 1, 2)),
        (TIMESTAMP, "2026-01-02T00:00:00Z", dt.datetime(2026, 1, 2, tzinfo=dt.UTC)),
        (Struct.of(a=STRING), '{"a":"b"}', {"a": "b"}),
    ],
)
def test_keys_in_an_address(type_: DataType, text: str, key: Any) -> None:
    assert parsed(text, type_) == key


def test_what_is_no_key_in_an_address_is_refused() -> None:
    with pytest.raises(StoreValueError, match="'x' is no key of this store, which are bigint"):
        parsed("x", BIGINT)


@pytest.mark.parametrize(
    ("type_", "what"),
    [
        (Map(STRING, BIGINT), "the key is of type map"),
        (Struct.of(a=Decimal(4, 2)), "'a' of the key is of type decimal"),
    ],
)
def test_keys_without_an_order_are_refused(type_: DataType, what: str) -> None:
    with pytest.raises(UnsupportedKeyError, match=f"{what}.*cast it to a string"):
        codec(type_)
