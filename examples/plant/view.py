"""How the plant looks: live tables on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Any, Protocol

from examples.plant.results import ALERTS, AVERAGES, SHORT_RUNS, WITH_UNITS, Results

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

_EVERY_S = 0.5
# Every value has a line of its own on a terminal only; elsewhere one in so many is enough.
_ONE_IN = 50


class View(Protocol):
    """Shows what the pipeline does."""

    def pipeline(self, line: str) -> None:
        """Show what the pipeline says of itself."""

    def record(self, topic: str, value: dict[str, Any]) -> None:
        """Show one result."""

    def refresh(self, results: Results, sent: int) -> None:
        """Show where everything stands."""


@contextmanager
def make_view() -> Iterator[View]:
    """Choose the view that standard output is made for."""
    if not sys.stdout.isatty():
        yield _Lines()
        return
    from rich.live import Live

    with Live(auto_refresh=False) as live:
        yield _Tables(live)


def delay(results: Results) -> str:
    """Return how long records took through the pipeline in the last half minute."""
    delays_ms = results.delays_ms()
    if not delays_ms:
        return "-"
    slow = delays_ms[len(delays_ms) * 95 // 100]
    return f"{median(delays_ms):,.0f} ms (median; 95 %: {slow:,.0f} ms)"


class _Lines:
    def __init__(self) -> None:
        self._seen = 0

    def pipeline(self, line: str) -> None:
        self._print(f"pipeline | {line}")

    def record(self, topic: str, value: dict[str, Any]) -> None:
        if topic == WITH_UNITS:
            self._seen += 1
            if self._seen % _ONE_IN != 1:
                return
        if topic == AVERAGES:
            return
        self._print(f"{topic}: {', '.join(f'{name}={each}' for name, each in value.items())}")

    def refresh(self, results: Results, sent: int) -> None:
        pass

    def _print(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


class _Tables:
    def __init__(self, live: Any) -> None:
        self._live = live
        self._said = "starting ..."
        self._next = 0.0

    def pipeline(self, line: str) -> None:
        self._said = line

    def record(self, topic: str, value: dict[str, Any]) -> None:
        pass

    def refresh(self, results: Results, sent: int) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _EVERY_S
        self._live.update(self._picture(results, sent), refresh=True)

    def _picture(self, results: Results, sent: int) -> RenderableType:
        from rich.columns import Columns
        from rich.console import Group
        from rich.text import Text

        counts = results.counts
        summary = (
            f"{sent:,} measurements sent, {counts[WITH_UNITS]:,} came back with units, "
            f"{counts[ALERTS]:,} alerts, {counts[SHORT_RUNS]:,} short runs\n"
            f"from measurement to result: {delay(results)}   Ctrl-C ends it"
        )
        lists = Columns([_alerts(results), _short_runs(results)], padding=(0, 4))
        return Group(_sensors(results), lists, Text(f"pipeline: {self._said}"), Text(summary))


def _sensors(results: Results) -> Any:
    table = _table("sensors", "sensor", "place", "value", "unit", "this minute, mean", "highest")
    for name, each in sorted(results.values.items()):
        minute = results.averages.get(name, {})
        mean, highest = minute.get("average"), minute.get("highest")
        table.add_row(
            name,
            each.get("place") or "",
            f"{each['value']:,}",
            each.get("unit") or "",
            "" if mean is None else f"{mean:,.0f}",
            "" if highest is None else f"{highest:,}",
        )
    return table


def _alerts(results: Results) -> Any:
    table = _table("alerts", "source", "reason", "value")
    for each in reversed(results.alerts):
        table.add_row(each["source"], each["reason"], str(each["value"]))
    return table


def _short_runs(results: Results) -> Any:
    table = _table("stopped within two minutes", "motor", "started", "stopped")
    for each in reversed(results.short_runs):
        table.add_row(each["motor_id"], each["started"][11:19], each["stopped"][11:19])
    return table


def _table(title: str, *columns: str) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in columns:
        numeric = name in ("value", "this minute, mean", "highest")
        table.add_column(name, justify="right" if numeric else "left")
    return table
