"""How a running job is shown: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import Group
    from rich.live import Live

    from headwater.spark.jobs.progress import QueryProgress

_LINE_EVERY_S = 10.0


class RunView(Protocol):
    """Shows what happens and how the queries are doing."""

    def say(self, line: str) -> None:
        """Show something that happened."""

    def show(self, queries: Sequence[QueryProgress], *, final: bool = False) -> None:
        """Show how the queries are doing now."""


@contextmanager
def make_run_view(app: str) -> Iterator[RunView]:
    """Choose the view that standard output is made for."""
    if not sys.stdout.isatty():
        yield _Lines(app)
        return
    from rich.live import Live

    with Live(auto_refresh=False) as live:
        yield _LiveTable(app, live)


class _Lines:
    def __init__(self, app: str) -> None:
        self._app = app
        self._next = time.monotonic() + _LINE_EVERY_S
        self._told: set[str] = set()

    def say(self, line: str) -> None:
        click.echo(f"{self._app}: {line}")
        sys.stdout.flush()

    def show(self, queries: Sequence[QueryProgress], *, final: bool = False) -> None:
        if not final and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _LINE_EVERY_S
        for query in queries:
            if query.why_micro_batches and query.name not in self._told:
                self._told.add(query.name)
                self.say(f"{query.name}: micro-batches, {query.why_micro_batches}")
            if query.awaits_report:
                self.say(f"{query.name}: {query.state}, waiting for the first report")
                continue
            extra = f", {query.state_rows:,} rows in state" if query.state_rows else ""
            late = f", {query.late_rows:,} late" if query.late_rows else ""
            self.say(
                f"{query.name}: {query.state}, {query.rows:,} rows, "
                f"{query.rows_per_second:,.0f} rows/s, lag {query.lag:,}, "
                f"batch {query.batch_ms} ms{extra}{late}"
            )


class _LiveTable:
    def __init__(self, app: str, live: Live) -> None:
        self._app = app
        self._live = live

    def say(self, line: str) -> None:
        # The terminal itself breaks a long line, so that an address stays whole when it is copied.
        self._live.console.print(
            f"{self._app}: {line}", markup=False, highlight=False, soft_wrap=True
        )

    def show(self, queries: Sequence[QueryProgress], *, final: bool = False) -> None:
        if not queries:
            return
        if final:
            # What does not fit on the screen scrolls away, and is there to be looked at.
            self._live.vertical_overflow = "visible"
        shown = query_table(queries, self._live.console.width)
        self._live.update(shown, refresh=True)


def query_table(queries: Sequence[QueryProgress], width: int) -> Group:
    """Return a table that fits a terminal of this width, and under it why queries failed.

    Before that it says which are in micro-batches, and why.

    Columns that say nothing are left out, then those that say least, until the names fit.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    columns = _fitting([_COLUMNS[0], *_worth_it(queries)], queries, width)
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        is_name = column is _COLUMNS[0]
        table.add_column(
            column.heading, justify="left" if column.is_text else "right", no_wrap=not is_name,
            overflow="fold" if is_name else "ellipsis",
        )  # fmt: skip
    for query in queries:
        table.add_row(*(Text(column.text(query)) for column in columns))
    roads = [
        Text(f"{query.name}: micro-batches, {query.why_micro_batches}", style="dim")
        for query in queries
        if query.why_micro_batches
    ]
    failures = [
        Text(f"{query.name}: {query.failure}", style="red") for query in queries if query.failure
    ]
    return Group(table, *roads, *failures)


class _Column(NamedTuple):
    heading: str
    cell: Callable[[QueryProgress], str]
    is_text: bool = False
    only_if: Callable[[QueryProgress], object] = lambda _query: True
    is_reported: bool = False
    """Whether Spark's first report has to be there, which in real-time mode takes a while."""

    def text(self, query: QueryProgress) -> str:
        return _UNKNOWN if self.is_reported and query.awaits_report else self.cell(query)


_UNKNOWN = "–"  # noqa: RUF001 - a dash, as tables have it
_COLUMNS = (
    _Column("query", lambda query: query.name, is_text=True),
    _Column("state", lambda query: query.state, is_text=True),
    _Column("lag", lambda query: f"{query.lag:,}", is_reported=True),
    _Column("rows/s", lambda query: f"{query.rows_per_second:,.0f}", is_reported=True),
    _Column("rows", lambda query: f"{query.rows:,}", is_reported=True),
    _Column(
        "in state", lambda query: f"{query.state_rows:,}", only_if=lambda query: query.state_rows
    ),
    _Column("late", lambda query: f"{query.late_rows:,}", only_if=lambda query: query.late_rows),
    _Column("restarts", lambda query: str(query.restarts), only_if=lambda query: query.restarts),
    _Column("batch", lambda query: f"{query.batch_ms:,} ms", is_reported=True),
)
_GAP = 2
# A name is broken into lines of this many letters before a column is left out.
_SHORTEST_NAME = 16


def _worth_it(queries: Sequence[QueryProgress]) -> list[_Column]:
    return [column for column in _COLUMNS[1:] if any(column.only_if(query) for query in queries)]


def _fitting(columns: list[_Column], queries: Sequence[QueryProgress], width: int) -> list[_Column]:
    """Leave out columns from the end, which are the less important ones."""

    def needed(column: _Column) -> int:
        longest = max((len(column.text(query)) for query in queries), default=0)
        wide = max(longest, len(column.heading))
        return (min(wide, _SHORTEST_NAME) if column is _COLUMNS[0] else wide) + _GAP

    while len(columns) > 2 and sum(map(needed, columns)) > width:
        columns = columns[:-1]
    return columns
