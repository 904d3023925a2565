"""How the demo shows readings: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

import click

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.live import Live
    from rich.table import Table

    from headwater.cli.demo.stream import Arrival

_ROWS = 12


class View(Protocol):
    """Shows one reading after the other."""

    def show(self, arrival: Arrival, count: int) -> None:
        """Show a reading, the `count`th so far."""


@contextmanager
def make_view() -> Iterator[View]:
    """Choose the view that standard output is made for."""
    if not sys.stdout.isatty():
        yield _Lines()
        return
    from rich.live import Live

    with Live(auto_refresh=False) as live:
        yield _LiveTable(live)


class _Lines:
    def show(self, arrival: Arrival, count: int) -> None:
        click.echo(
            f"{_clock(arrival)}  {arrival.sensor:<14} {arrival.celsius:5.1f} °C  "
            f"partition {arrival.partition}  offset {arrival.offset:<4} {arrival.latency_ms:.1f} ms"
        )
        sys.stdout.flush()


class _LiveTable:
    def __init__(self, live: Live) -> None:
        self._live = live
        self._recent: list[Arrival] = []

    def show(self, arrival: Arrival, count: int) -> None:
        self._recent = [*self._recent, arrival][-_ROWS:]
        self._live.update(self._table(count), refresh=True)

    def _table(self, count: int) -> Table:
        from rich import box
        from rich.table import Table

        table = Table(box=box.SIMPLE_HEAD, caption=f"{count} readings", caption_justify="left")
        for name in ("time", "sensor", "°C", "partition", "offset", "latency"):
            table.add_column(name, justify="left" if name in ("time", "sensor") else "right")
        for arrival in self._recent:
            table.add_row(
                _clock(arrival),
                arrival.sensor,
                f"{arrival.celsius:.1f}",
                str(arrival.partition),
                str(arrival.offset),
                f"{arrival.latency_ms:.1f} ms",
            )
        return table


def _clock(arrival: Arrival) -> str:
    return datetime.fromtimestamp(arrival.timestamp_ms / 1000).astimezone().strftime("%H:%M:%S")
