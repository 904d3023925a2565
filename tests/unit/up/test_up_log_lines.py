"""One log of many services: prefixes, colours, and lines from any pieces."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headwater.up.log_lines import LineSplitter, LogLines


def test_names_stand_in_a_column() -> None:
    out = io.StringIO()
    log = LogLines(["broker", "registry"], out, colours=False)
    log.write("broker", ["a", "b"])
    log.write("registry", ["c"])
    assert out.getvalue() == "broker   | a\nbroker   | b\nregistry | c\n"
    log.say("hello")
    assert out.getvalue().splitlines()[-1].startswith("up       | 2")
    assert out.getvalue().endswith(" hello\n")


def test_colours_differ_and_end_with_the_name() -> None:
    out = io.StringIO()
    names = [f"service-{number}" for number in range(8)]
    log = LogLines(names, out, colours=True)
    for name in names[:6]:
        log.write(name, ["text"])
    prefixes = [line.split("service")[0] for line in out.getvalue().splitlines()]
    assert len(set(prefixes)) == 6
    assert all(line.endswith("|\x1b[0m text") for line in out.getvalue().splitlines())


def test_a_reader_that_goes_away_is_told_once() -> None:
    class Closed(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    told: list[str] = []
    log = LogLines(["a"], Closed(), colours=False)
    log.on_reader_gone = lambda: told.append("gone")
    log.write("a", ["x"])
    log.say("y")
    assert told == ["gone"]


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
