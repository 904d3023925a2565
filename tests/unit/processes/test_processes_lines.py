"""What a process writes, cut into lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.processes.lines import LineSplitter


@given(st.lists(st.text(st.characters(blacklist_characters="\n\r"))), st.data())
def test_lines_from_any_pieces(lines: list[str], data: st.DataObject) -> None:
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
    splitter = LineSplitter()
    found: list[str] = []
    while text:
        size = data.draw(st.integers(1, len(text)))
        found += splitter.feed(text[:size])
        text = text[size:]
    expected = [line.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for line in lines]
    assert found + splitter.finish() == expected


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"a\r\nb", ["a", "b"]),
        (b"\xff\n", ["\ufffd"]),
        (b"\n\n", ["", ""]),
        (b"x" * 100_000, ["x" * 100_000]),
    ],
)
def test_odd_lines(data: bytes, lines: list[str]) -> None:
    splitter = LineSplitter()
    assert splitter.feed(data) + splitter.finish() == lines


def test_a_line_without_an_end_is_not_kept_for_ever() -> None:
    splitter = LineSplitter()
    assert [len(line) for line in splitter.feed(b"x" * 70_000)] == [70_000]
    assert splitter.feed(b"y\n") == ["y"]
