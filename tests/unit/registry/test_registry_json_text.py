"""JSON as Java's Jackson writes it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.registry.formats.base import InvalidSchemaError
from headwater.registry.formats.json_text import MAX_DEPTH, java_double, parse_json, write_json


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1.0, "1.0"),
        (1000.0, "1000.0"),
        (1234567.0, "1234567.0"),
        (12345678.0, "1.2345678E7"),
        (1e8, "1.0E8"),
        (0.001, "0.001"),
        (0.0001, "1.0E-4"),
        (1e-7, "1.0E-7"),
        (1.5e300, "1.5E300"),
        (-0.0, "-0.0"),
        (-2.5e-9, "-2.5E-9"),
        (1.2345678901234567e19, "1.2345678901234567E19"),
    ],
)
def test_doubles_look_as_in_java(number: float, text: str) -> None:
    assert java_double(number) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [("1.0", "1.0"), ("1.10", "1.10"), ("1e3", "1E+3"), ("-0.0", "0.0"), ("1e-7", "1E-7")],
)
def test_exact_numbers_stay_as_they_are(written: str, text: str) -> None:
    assert write_json(parse_json(written, exact_numbers=True)) == text


def test_strings_are_escaped_as_jackson_does() -> None:
    text = 'a"b\\c/\n\t\x1f\x7fé\U0001f600\\u001f'
    assert write_json(text) == '"a\\"b\\\\c/\\n\\t\\u001F\x7fé\U0001f600\\\\u001f"'
    assert write_json("half \ud800 of a pair, and \U0001f600") == (
        '"half \\uD800 of a pair, and \U0001f600"'
    )


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, width=64)
        | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)  # fmt: skip
def test_what_is_written_reads_as_the_same(value: object) -> None:
    infinite = (float("inf"), float("-inf"))
    if not any(each in infinite for each in _numbers(value)):
        assert json.loads(write_json(value)) == value


@pytest.mark.parametrize("text", ["", "{", "nope", '{"a":NaN}', "[1,]", "{'a':1}"])
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidSchemaError, match="not JSON"):
        parse_json(text)


def test_depth_is_limited() -> None:
    parse_json("[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1))
    for depth in (MAX_DEPTH + 1, 5_000, 200_000):
        with pytest.raises(InvalidSchemaError, match="nests deeper"):
            parse_json("[" * depth + "]" * depth)


def _numbers(value: object) -> list[object]:
    if isinstance(value, dict):
        return [each for inner in value.values() for each in _numbers(inner)]
    if isinstance(value, list):
        return [each for inner in value for each in _numbers(inner)]
    return [value]
