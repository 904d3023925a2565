"""Lines as records."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.cli.records.input import InputError, JsonReader, LineReader, OutgoingRecord


def test_the_whole_line_is_the_value_by_default() -> None:
    assert LineReader().read(b"a\tb:c") == OutgoingRecord(b"a\tb:c")
    assert LineReader().read(b"") == OutgoingRecord(b"")


def test_headers_key_and_value_come_in_kafkas_order() -> None:
    reader = LineReader(key_separator=b"\t", headers_delimiter=b"\t")
    assert reader.read(b"a:1,b:2:3,a:\tk\tv\tw") == OutgoingRecord(
        b"v\tw", b"k", [("a", b"1"), ("b", b"2:3"), ("a", b"")]
    )
    assert reader.read(b"\tk\tv").headers == []


def test_own_separators_within_headers() -> None:
    reader = LineReader(headers_delimiter=b"|", header_separator=b";", header_key_separator=b"=>")
    assert reader.read(b"a=>1;b=>2|v").headers == [("a", b"1"), ("b", b"2")]


def test_the_null_marker_stands_for_null_everywhere() -> None:
    reader = LineReader(key_separator=b":", headers_delimiter=b"|", null_marker=b"-")
    assert reader.read(b"-|-:-") == OutgoingRecord(None, None, [])
    assert reader.read(b"h:-|k:v").headers == [("h", None)]


def test_defaults_hold_for_all_records() -> None:
    defaults = OutgoingRecord(None, b"k", [("h", b"1")], 3, 42)
    assert LineReader(defaults=defaults).read(b"v") == OutgoingRecord(
        b"v", b"k", [("h", b"1")], 3, 42
    )
    added = LineReader(headers_delimiter=b"|", defaults=defaults).read(b"i:2|v")
    assert added.headers == [("h", b"1"), ("i", b"2")]


@pytest.mark.parametrize(
    ("reader", "line", "message"),
    [
        (LineReader(key_separator=b"\t"), b"no tab", r"no '\\t' after the key"),
        (LineReader(headers_delimiter=b"|"), b"none", r"no '\|' after the headers"),
        (LineReader(headers_delimiter=b"|"), b"name|v", "no ':' in the header 'name'"),
        (LineReader(headers_delimiter=b"|"), b"\xff:1|v", "not UTF-8"),
    ],
)
def test_lines_that_are_no_records(reader: LineReader, line: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        reader.read(line)


def test_json_values_of_all_kinds() -> None:
    def value_of(value: object) -> bytes | None:
        return JsonReader().read(json.dumps({"value": value}).encode()).value

    assert value_of("text") == b"text"
    assert value_of("") == b""
    assert value_of(None) is None
    assert value_of({"a": [1, 2.5, True]}) == b'{"a":[1,2.5,true]}'
    assert value_of(7) == b"7"


def test_json_fields() -> None:
    line = {
        "topic": "ignored",
        "offset": 99,
        "timestamp_type": "CreateTime",
        "key_base64": base64.b64encode(b"\xff").decode(),
        "value": "v",
        "headers": [{"key": "a", "value": "1"}, {"key": "a", "value": None}],
        "partition": 2,
        "timestamp": 1767225600000,
    }
    assert JsonReader().read(json.dumps(line).encode()) == OutgoingRecord(
        b"v", b"\xff", [("a", b"1"), ("a", None)], 2, 1767225600000
    )


def test_a_null_key_in_json_wins_over_the_default() -> None:
    reader = JsonReader(OutgoingRecord(None, b"default"))
    assert reader.read(b'{"value": "v"}').key == b"default"
    assert reader.read(b'{"value": "v", "key": null}').key is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"[1]", "not a JSON object"),
        (b'{"key": "k"}', "no field 'value'"),
        (b'{"value": 1, "colour": 2}', "unknown field 'colour'"),
        (b'{"value_base64": "%%"}', "value_base64 is not base64"),
        (b'{"value": 1, "headers": "h"}', "headers must be"),
        (b'{"value": 1, "headers": [["a", "b"]]}', "a header must look like"),
        (b'{"value": 1, "partition": -1}', "partition must be"),
        (b'{"value": 1, "timestamp": "now"}', "timestamp must be"),
        (b'{"value": 1, "partition": true}', "partition must be"),
        (b'{"value": 1, "partition": 2147483648}', "partition must be"),
        (b'{"value": 1, "headers": {"\\ud800": "x"}}', "a header cannot be named"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_json_that_is_no_record(line: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        JsonReader().read(line)


@given(st.binary(max_size=200))
def test_any_line_is_a_record_or_an_input_error(line: bytes) -> None:
    for reader in (JsonReader(), LineReader(key_separator=b"\t", headers_delimiter=b"|")):
        try:
            record = reader.read(line)
        except InputError:
            continue
        assert record.value is None or isinstance(record.value, bytes)
