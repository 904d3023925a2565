"""Start positions as users write them."""

from __future__ import annotations

import pytest

from headwater.clients.start_position import InvalidPositionError, StartPosition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("earliest", ("earliest", 0)),
        ("beginning", ("earliest", 0)),
        ("latest", ("latest", 0)),
        ("end", ("latest", 0)),
        ("0", ("offset", 0)),
        ("4711", ("offset", 4711)),
        ("-10", ("before-end", 10)),
        ("@1767225600000", ("time", 1767225600000)),
        ("2026-01-01", ("time", 1767225600000)),
    ],
)
def test_parse(text: str, expected: tuple[str, int]) -> None:
    assert StartPosition.parse(text) == expected


@pytest.mark.parametrize("text", ["", "middle", "--1", "@", "1e3"])
def test_what_is_no_position(text: str) -> None:
    with pytest.raises(InvalidPositionError, match="is no position"):
        StartPosition.parse(text)
