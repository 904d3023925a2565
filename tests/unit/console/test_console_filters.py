"""Filters of records: what is contained, and conditions on fields."""

from __future__ import annotations

import json

import pytest

from headwater.console.model.records.decoding import Decoded, Decoder
from headwater.console.model.records.filters import Filter, FilterError
from headwater.console.model.records.records import Record
from headwater.serde import Context

DECODER = Decoder(None)


def decoded(text: str) -> Decoded:
    return DECODER.decode_bytes(text.encode(), Context("t"))


def record(value: object) -> Record:
    headers = (("trace.id", decoded("00f1")),)
    key = decoded("Berlin-7")
    return Record("t", 3, 42, 1_700_000_000_000, key, decoded(json.dumps(value)), headers)


ORDER = record({"amount": 9.5, "paid": True, "items": [{"sku": "a-1"}], "note": None})


@pytest.mark.parametrize(
    "where",
    [
        "value.amount = 9.5",
        "value.amount > 9 and value.amount <= 9.5",
        "value.paid = true",
        "value.items[0].sku = a-1",
        'value.items[0].sku = "a-1"',
        "value.note exists",
        "value.other != 3",
        "key contains BERLIN",
        "headers.trace.id = 00f1",
        "partition = 3 and offset = 42 and timestamp > 1600000000000",
        "key = Berlin-7 and value.amount < 10",
        "",
    ],
)
def test_what_holds(where: str) -> None:
    assert Filter.parse("", where).takes(ORDER)


@pytest.mark.parametrize(
    "where",
    [
        "value.amount > 9.5",
        "value.amount > text",
        "value.missing exists",
        "value.items[1].sku exists",
        "value.items.sku exists",
        "value.amount.deeper = 1",
        "value.paid = false",
        "headers.none = 1",
        "key = berlin",
    ],
)
def test_what_does_not_hold(where: str) -> None:
    assert not Filter.parse("", where).takes(ORDER)


def test_contains_looks_at_keys_values_and_headers() -> None:
    for text in ("berlin", "SKU", "00f1", "trace"):
        assert Filter.parse(text, "").takes(ORDER)
    assert not Filter.parse("oslo", "").takes(ORDER)
    assert not Filter.parse("berlin", "partition = 4").takes(ORDER)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("amount", "'amount' is no condition"),
        ("amount > 3", "there is no 'amount'; a field starts with key, value"),
        ("value.a =", "compares with nothing"),
    ],
)
def test_what_makes_no_sense(where: str, message: str) -> None:
    with pytest.raises(FilterError, match=message):
        Filter.parse("", where)
