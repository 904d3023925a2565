"""Option values: NAME=VALUE, escapes and points in time."""

from __future__ import annotations

import click
import pytest

from headwater.cli.options.values import parse_assignments, unescape
from headwater.clients.points_in_time import parse_time

NOW = 1_800_000_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", b"plain"),
        (r"\t", b"\t"),
        (r"a\nb\r\0", b"a\nb\r\0"),
        (r"\\t", rb"\t"),
        (r"\x1f|\xff", b"\x1f|\xff"),
        ("ü", "ü".encode()),
    ],
)
def test_unescape(text: str, expected: bytes) -> None:
    assert unescape(text) == expected


@pytest.mark.parametrize("text", [r"\q", r"\x1", "ends with \\"])
def test_unknown_escapes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is unknown"):
        unescape(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("1767225600000", 1767225600000),
        ("2026-01-01", 1767225600000),
        ("2026-01-01T00:00:00", 1767225600000),
        ("2026-01-01T01:00:00+01:00", 1767225600000),
        ("2026-01-01T00:00:00.250Z", 1767225600250),
        ("15m", NOW - 15 * 60_000),
        ("1.5h", NOW - 5_400_000),
        ("2d", NOW - 2 * 86_400_000),
        ("250ms", NOW - 250),
    ],
)
def test_times(text: str, expected: int) -> None:
    assert parse_time(text, NOW) == expected


@pytest.mark.parametrize(
    "text", ["", "yesterday", "2026-13-01", "-5", "5w", "1969-12-31", "9223372036854775808"]
)
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no time|before 1970|too large"):
        parse_time(text, NOW)


def test_assignments() -> None:
    assert parse_assignments(["a=1", "b = x=y ", "a=2", "c="], "-x") == {
        "a": "2",
        "b": "x=y",
        "c": "",
    }
    with pytest.raises(click.BadParameter, match="'=1' is not of the form"):
        parse_assignments(["=1"], "-x")
