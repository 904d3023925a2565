"""The chart beside the rows of a query: what it shows is picked, and drawn as rows come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from headwater.console.model.sql.sql_chart import KINDS, NONE, Chart, drawn, numeric
from headwater.console.view.frame import html, note

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.console.model.sql.sql import RunningQuery


class SqlChart:
    """A query's rows as a chart; `picked` hears of what somebody wants to see."""

    def __init__(self, wanted: Chart, picked: Callable[[Chart], None]) -> None:
        self.wanted = wanted
        self._picked = picked
        self._query: RunningQuery | None = None
        self._chart: ui.echart | None = None
        self._is_filling = False

    def choices(self) -> None:
        """Show what can be picked, once there are columns to pick from."""
        kind = self.wanted.kind if self.wanted.kind in KINDS else NONE
        self._kind = ui.select(list(KINDS), value=kind, label="Chart", on_change=self._pick)
        self._x = ui.select([], label="Across", on_change=self._pick)
        self._y = ui.select([], label="Up", on_change=self._pick)
        for box in (self._kind, self._x, self._y):
            box.props("dense outlined").style("width: 150px")
        self.forget()

    def place(self) -> None:
        """Make room for it beside the rows; there is nothing of it yet."""
        self.forget()
        self._panel = ui.element("div").classes("hw-panel hw-plot")
        self._panel.set_visibility(False)

    def forget(self) -> None:
        """Draw no more: what it stood beside is gone."""
        self._query = None
        self._chart = None
        self._x.set_visibility(False)
        self._y.set_visibility(False)

    def show(self, query: RunningQuery) -> None:
        """Draw the rows that there are."""
        if query is not self._query and query.columns:
            self._query = query
            self._fill(query)
        elif self._chart is not None and self._query is not None:
            self._chart.options.clear()
            self._chart.options.update(self._options(self._query))
            self._chart.update()

    def _fill(self, query: RunningQuery) -> None:
        """Offer the columns of a query, and draw it anew."""
        self.wanted = self.wanted.of(query.columns, query.types)
        offered = numeric(query.columns, query.types)
        self._is_filling = True
        self._x.set_options(list(query.columns), value=self.wanted.x or None)
        self._y.set_options(offered, value=self.wanted.y or None)
        self._is_filling = False
        self._draw()

    def _pick(self) -> None:
        if self._is_filling:
            return
        self.wanted = Chart(
            str(self._kind.value),
            str(self._x.value or self.wanted.x),
            str(self._y.value or self.wanted.y),
        )
        self._picked(self.wanted)
        if self._query is not None:
            self._fill(self._query)

    def _draw(self) -> None:
        is_wanted = self.wanted.kind != NONE and self._query is not None
        for element in (self._x, self._y, self._panel):
            element.set_visibility(is_wanted)
        self._panel.clear()
        self._chart = None
        if not is_wanted or self._query is None:
            return
        with self._panel:
            if not self.wanted.y:
                html(note("warning", "None of the columns is a number.", "Pick others in SELECT."))
                return
            self._chart = ui.echart(self._options(self._query), renderer="svg")
            told = _label(f"{self.wanted.kind}: {self.wanted.y} by {self.wanted.x}")
            self._chart.props(f'role=img aria-label="{told}"')

    def _options(self, query: RunningQuery) -> dict[str, object]:
        return drawn(self.wanted, query.columns, query.types, list(query.rows))


def _label(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum() or letter in " :._-")
