"""Rows of a query as a chart: what ECharts is to draw of two of their columns."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

NONE, LINE, BARS, POINTS = "No chart", "Line", "Bars", "Points"
KINDS = (NONE, LINE, BARS, POINTS)
MOST_BARS = 60
NUMBERS = ("INTEGER", "BIGINT", "DOUBLE", "DECIMAL")
_TIMES = ("TIMESTAMP", "DATE")
_TIME_COLUMNS = ("ROWTIME", "WINDOWSTART", "WINDOWEND")
_COLOR, _LINES = "#2f8cad", "#8895a3"
_SERIES = {LINE: "line", BARS: "bar", POINTS: "scatter"}


@dataclass(frozen=True)
class Chart:
    """What a person wants to see drawn; without columns, those that suit."""

    kind: str = NONE
    x: str = ""
    y: str = ""

    def of(self, columns: Sequence[str], types: Sequence[str]) -> Chart:
        """Return it for these columns: those that it names, or else the first ones that suit.

        >>> Chart(BARS, "NONE", "NONE").of(["CITY", "N"], ["STRING", "BIGINT"])
        Chart(kind='Bars', x='CITY', y='N')
        """
        kind = self.kind if self.kind in KINDS else NONE
        x = self.x if self.x in columns else next(iter(columns), "")
        offered = numeric(columns, types)
        others = [name for name in offered if name != x]
        y = self.y if self.y in offered else next(iter(others or offered), "")
        return Chart(kind, x, y)


def numeric(columns: Sequence[str], types: Sequence[str]) -> list[str]:
    """Return the columns that are numbers."""
    return [name for name, each in zip(columns, types, strict=True) if each.startswith(NUMBERS)]


def drawn(
    chart: Chart, columns: Sequence[str], types: Sequence[str], rows: Iterable[Sequence[Any]]
) -> dict[str, Any]:
    """Return the options of the chart.

    Lines and points have all rows, bars the last one of each x: of an aggregate that is its value.
    """
    x, y = columns.index(chart.x), columns.index(chart.y)
    axis = "category" if chart.kind == BARS else _axis(chart.x, types[x])
    points = [(_place(row[x], axis), row[y]) for row in rows if _is_number(row[y])]
    if chart.kind == BARS:
        points = list(dict(points).items())[-MOST_BARS:]
    elif axis != "category":
        points = [point for point in points if point[0] is not None]
        points.sort(key=lambda point: point[0])
    lines = {"lineStyle": {"color": _LINES}}
    return {
        "animation": False,
        "useUTC": True,
        "color": [_COLOR],
        "grid": {"left": 12, "right": 24, "top": 34, "bottom": 30, "containLabel": True},
        # Not as HTML: what is drawn is whatever somebody wrote.
        "tooltip": {"trigger": "item", "renderMode": "richText"},
        "xAxis": {
            "type": axis,
            "name": chart.x,
            "nameLocation": "middle",
            "nameGap": 28,
            "scale": True,
            "axisLine": lines,
            "axisLabel": {"hideOverlap": True, "width": 120, "overflow": "truncate"},
        },
        "yAxis": {
            "type": "value",
            "name": chart.y,
            "scale": chart.kind != BARS,
            "splitLine": {"lineStyle": {"color": _LINES, "opacity": 0.25}},
        },
        "series": [
            {
                "type": _SERIES[chart.kind],
                "data": [list(point) for point in points],
                "symbolSize": 5,
                "barMaxWidth": 40,
            }
        ],
    }


def _axis(name: str, kind: str) -> str:
    if name in _TIME_COLUMNS or kind.startswith(_TIMES):
        return "time"
    return "value" if kind.startswith(NUMBERS) else "category"


def _place(value: Any, axis: str) -> Any:
    if axis != "category":
        return value
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
