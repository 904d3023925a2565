"""How a running job is shown: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.live import Live
    from rich.table import Table

    from headwater.spark.jobs.progress import QueryProgress

_LINE_EVERY_S = 10.0
_HEADINGS = ("query", "state", "rows", "rows/s", "lag", "batch", "state rows", "late", "restarts")


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

    def say(self, line: str) -> None:
        click.echo(f"{self._app}: {line}")
        sys.stdout.flush()

    def show(self, queries: Sequence[QueryProgress], *, final: bool = False) -> None:
        if not final and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _LINE_EVERY_S
        for query in queries:
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
        self._live.console.print(f"{self._app}: {line}", markup=False, highlight=False)

    def show(self, queries: Sequence[QueryProgress], *, final: bool = False) -> None:
        self._live.update(self._table(queries), refresh=True)

    def _table(self, queries: Sequence[QueryProgress]) -> Table:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, title=self._app, title_justify="left")
        for heading in _HEADINGS:
            table.add_column(heading, justify="left" if heading in ("query", "state") else "right")
        for query in queries:
            table.add_row(
                query.name, query.state, f"{query.rows:,}", f"{query.rows_per_second:,.0f}",
                f"{query.lag:,}", f"{query.batch_ms} ms", f"{query.state_rows:,}",
                f"{query.late_rows:,}", str(query.restarts),
            )  # fmt: skip
            if query.failure:
                table.add_row("", f"[red]{query.failure}[/red]")
        return table
