"""The table of a running job, on terminals of all widths."""

from __future__ import annotations

import pytest
from rich.console import Console

from headwater.cli.run.view import make_run_view, query_table
from headwater.spark.jobs.progress import QueryProgress

QUERIES = (
    QueryProgress("readings-of-the-plant", "real-time", 3, 1_234_567, 123_456.0, 10_012, 8_105),
    QueryProgress("readings-of-the-plant-aggregate", "running", 3, 1_234_567, 23_456.0, 312, 805),
)


def shown(width: int, *queries: QueryProgress) -> list[str]:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(query_table(queries, width))
    return capture.get().splitlines()


def test_all_that_matters_fits_a_usual_terminal() -> None:
    heading, _, first, second, *_ = shown(80, *QUERIES)
    assert heading.split() == ["query", "state", "lag", "rows/s", "rows", "batch"]
    assert first.split()[1:] == ["real-time", "8,105", "123,456", "1,234,567", "10,012", "ms"]
    assert second.startswith("readings-of-the-plant-a")


@pytest.mark.parametrize("width", [200, 80, 60, 40, 24])
def test_names_are_never_cut(width: int) -> None:
    lines = shown(width, *QUERIES)
    assert all(len(line) <= width for line in lines)
    first = len(lines[0].partition("state")[0])
    names = "".join(line[:first].strip() for line in lines[2:])
    assert names == "".join(query.name for query in QUERIES)


def test_columns_come_with_something_to_say() -> None:
    (query,) = QUERIES[:1]
    assert "in state" not in shown(200, query)[0]
    busy = QueryProgress("counts", "running", 0, state_rows=100_000, late_rows=3, restarts=2)
    heading, _, _, row = shown(200, query, busy)
    assert heading.split("in state")[1].split() == ["late", "restarts", "batch"]
    assert row.split()[5:8] == ["100,000", "3", "2"]


def test_a_reason_stands_below_as_it_is() -> None:
    failed = QueryProgress("counts", "waiting", restarts=1, failure="no [bold] topic 'x'")
    assert shown(80, failed)[-1] == "counts: no [bold] topic 'x'"


def test_it_says_which_road_a_query_takes_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    slow = QueryProgress("counts", "running", 0, why_micro_batches="too few task slots")
    road = "counts: micro-batches, too few task slots"
    assert shown(80, QUERIES[0], slow)[-1] == road
    with make_run_view("app") as view:
        for _ in range(2):
            view.show([slow], final=True)
    assert capsys.readouterr().out.splitlines().count(f"app: {road}") == 1


def test_what_is_not_reported_yet_is_not_shown_as_zero() -> None:
    waiting = QueryProgress("counts", "real-time")
    assert shown(80, waiting)[2].split() == ["counts", "real-time", *"––––"]  # noqa: RUF001
    nothing_there = QueryProgress("counts", "finished")
    assert shown(80, nothing_there)[2].split() == ["counts", "finished", *"0000", "ms"]


def test_lines_say_what_they_wait_for(capsys: pytest.CaptureFixture[str]) -> None:
    with make_run_view("app") as view:
        view.show([QueryProgress("counts", "real-time")], final=True)
    assert capsys.readouterr().out == "app: counts: real-time, waiting for the first report\n"
