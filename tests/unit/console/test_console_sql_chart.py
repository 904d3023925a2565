"""Rows of queries as charts: which columns suit, and what is drawn of them."""

from __future__ import annotations

import pytest

from headwater.console.model.sql.sql_chart import BARS, LINE, MOST_BARS, NONE, POINTS, Chart, drawn

COLUMNS = ["CITY", "WINDOWSTART", "N", "PAID"]
TYPES = ["STRING", "BIGINT", "BIGINT", "BOOLEAN"]
ROWS = [["Graz", 2_000, 1, True], ["Oslo", 1_000, 5, False], ["Graz", 3_000, 2, None]]


def _points(chart: Chart, rows: list[list[object]] = ROWS) -> tuple[str, object]:
    options = drawn(chart, COLUMNS, TYPES, rows)
    return options["xAxis"]["type"], options["series"][0]["data"]


def test_what_is_drawn_of_rows() -> None:
    assert _points(Chart(BARS, "CITY", "N")) == ("category", [["Graz", 2], ["Oslo", 5]])
    line = [[1_000, 5], [2_000, 1], [3_000, 2]]
    assert _points(Chart(LINE, "WINDOWSTART", "N")) == ("time", line)
    points = [[1, 2_000], [2, 3_000], [5, 1_000]]
    assert _points(Chart(POINTS, "N", "WINDOWSTART")) == ("value", points)
    kept = [["Graz", 1], ["Oslo", 5], ["Graz", 2]]
    assert _points(Chart(LINE, "CITY", "N")) == ("category", kept)


def test_what_is_no_number_is_left_out_and_what_is_no_text_becomes_one() -> None:
    rows: list[list[object]] = [[["a"], 1, None, True], [{"b": 1}, 1, 2.5, True], [None, 1, 3, 0]]
    assert _points(Chart(BARS, "CITY", "N"), rows) == ("category", [['{"b": 1}', 2.5], ["null", 3]])
    rows = [["x", None, 1, 0], ["x", 7, 2, 0]]
    assert _points(Chart(LINE, "WINDOWSTART", "N"), rows) == ("time", [[7, 2]])


def test_only_so_many_bars() -> None:
    rows: list[list[object]] = [[f"c{number}", 0, number, True] for number in range(500)]
    _, bars = _points(Chart(BARS, "CITY", "N"), rows)
    assert bars == [[f"c{number}", number] for number in range(500 - MOST_BARS, 500)]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (Chart(), Chart(NONE, "CITY", "WINDOWSTART")),
        (Chart(BARS, "N"), Chart(BARS, "N", "WINDOWSTART")),
        (Chart("Pie", "CITY", "CITY"), Chart(NONE, "CITY", "WINDOWSTART")),
        (Chart(LINE, "WINDOWSTART", "N"), Chart(LINE, "WINDOWSTART", "N")),
    ],
)
def test_columns_that_suit(given: Chart, found: Chart) -> None:
    assert given.of(COLUMNS, TYPES) == found
    assert Chart(BARS).of(["A"], ["STRING"]).y == ""
