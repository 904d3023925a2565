from __future__ import annotations

import pytest

from headwater.config.properties import Property, parse_properties, properties_with_lines


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("", {}),
        ("# a comment\n! another\n\n   \n", {}),
        ("a=1\nb = 2\nc:3\nd : 4\ne 5\n", {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}),
        ("  a =  1  \n", {"a": "1  "}),
        ("a=\nb\n", {"a": "", "b": ""}),
        ("a=x=y:z\n", {"a": "x=y:z"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1,\\\n   2,\\\n   3\nb=4\n", {"a": "1,2,3", "b": "4"}),
        ("a=one\\\\\nb=2\n", {"a": "one\\", "b": "2"}),
        ("a=1\\\n# not a comment\n", {"a": "1# not a comment"}),
        ("a=\\u0041\\t\\n\\:\\z\n", {"a": "A\t\n:z"}),
        ("a\\=b\\ c=1\n", {"a=b c": "1"}),
        ("a=1\na=2\n", {"a": "2"}),
        ("a=1\\", {"a": "1"}),
    ],
)
def test_properties_as_java_reads_them(text: str, settings: dict[str, str]) -> None:
    assert parse_properties(text) == settings


def test_each_value_has_the_line_that_it_starts_in() -> None:
    text = "# a comment\n\na=1\nb=2,\\\n  3\nc=4\na=5\n"
    assert properties_with_lines(text) == {
        "a": Property("5", 7),
        "b": Property("2,3", 4),
        "c": Property("4", 6),
    }
