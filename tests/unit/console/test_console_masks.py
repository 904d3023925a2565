"""Fields that nobody sees, whatever form the record has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from headwater.config import ConfigError
from headwater.console.config import ConsoleConfig
from headwater.console.model.records.decoding import NULL, Decoded, Decoder
from headwater.console.model.records.filters import Filter
from headwater.console.model.records.masks import HIDDEN, Mask, Masks
from headwater.console.model.records.records import Record
from headwater.serde.context import Context

SECRET = "4111-1111"


def _decoded(value: object) -> Decoded:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return Decoder(None).decode_bytes(data, Context("payments"))


def _record(value: object, key: object = b"k", headers: dict[str, bytes] | None = None) -> Record:
    told = tuple((name, _decoded(each)) for name, each in (headers or {}).items())
    return Record("payments.eu", 0, 0, 0, _decoded(key), _decoded(value), told)


def _hidden(record: Record, *rules: str) -> Record:
    return Masks(map(Mask.parse, rules)).hide(record)


@pytest.mark.parametrize(
    ("value", "left"),
    [
        ({"card": {"number": SECRET, "of": "ann"}}, {"card": {"number": HIDDEN, "of": "ann"}}),
        ({"card": {"number": [SECRET, {"a": SECRET}]}}, {"card": {"number": HIDDEN}}),
        ({"card": [{"number": SECRET}, {}]}, {"card": [{"number": HIDDEN}, {}]}),
        ({"card": {"bank.Card": {"number": SECRET}}}, {"card": {"bank.Card": {"number": HIDDEN}}}),
        ([{"card": {"number": SECRET}}], [{"card": {"number": HIDDEN}}]),
        ({"id": 1, "note": "none"}, {"id": 1, "note": "none"}),
        (f"text {SECRET}".encode(), HIDDEN),
        (f'{{"card": {{"number": "{SECRET}"'.encode(), HIDDEN),
        (b"\x00\x01\x02" + SECRET.encode(), HIDDEN),
        (json.dumps({"card": {"number": SECRET}, "rest": "x" * 70_000}).encode(), HIDDEN),
    ],
)
def test_a_field_of_a_value(value: object, left: Any) -> None:
    found = _hidden(_record(value), "payments.*:value.card.number").value
    assert found.value == left
    assert SECRET not in found.text
    assert found.text == (left if left == HIDDEN else json.dumps(left))


def test_keys_headers_and_what_is_not_there() -> None:
    record = _record({"a": 1}, SECRET.encode(), {"token": SECRET.encode(), "trace": b"t1"})
    found = _hidden(record, "*:key", "payments.eu:headers.token", "other:value")
    assert found.key.text == found.headers[0][1].text == HIDDEN
    assert found.headers[1][1].text == "t1"
    assert found.value.value == {"a": 1}
    assert _hidden(record, "*:headers").headers[1][1].text == HIDDEN
    assert _hidden(record._replace(value=NULL), "*:value.a").value is NULL


def test_filters_find_nothing_that_is_hidden() -> None:
    found = _hidden(_record({"card": {"number": SECRET}}), "*:value.card.number")
    assert not Filter.parse(SECRET, "").takes(found)
    assert not Filter.parse("", f"value.card.number = {SECRET}").takes(found)


def test_rules_that_make_no_sense() -> None:
    for wrong in ("payments", "payments:", ":value", "payments:body.a", "payments:value..a"):
        with pytest.raises(ConfigError, match="a rule is TOPIC:FIELD"):
            ConsoleConfig.from_settings({"masked.fields": wrong})


@pytest.mark.parametrize(
    ("rules", "is_as_much"),
    [
        ((), True),
        (("payments:value.card",), False),
        (("payments:value.card", "copy:value.card"), True),
        (("payments:value.card", "copy:value"), True),
        (("payments:value.card", "copy:value.card.number"), False),
        (("payments:value.card", "copy:key.card"), False),
        (("payments:headers.token", "copy:headers"), True),
        (("*:value.card", "payments:key"), False),
        (("copy:value",), True),
    ],
)
def test_a_topic_that_hides_as_much(rules: tuple[str, ...], is_as_much: bool) -> None:
    masks = Masks(map(Mask.parse, rules))
    assert masks.hide_as_much("payments", "copy") is is_as_much
    assert masks.hide_as_much("payments", "payments")
