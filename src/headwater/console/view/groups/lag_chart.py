"""The lag of a group over time, as a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.console.view.formats import count, seconds
from headwater.console.view.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.console.model.groups.lag_history import LagPoint

_WIDTH, _HEIGHT, _LEAST_POINTS = 640, 64, 3


def lag_chart(points: Sequence[LagPoint]) -> Markup | None:
    """Return a chart with its largest value and its length; None where there is too little."""
    if len(points) < _LEAST_POINTS:
        return None
    first, last = points[0].at, points[-1].at
    most = max(each.lag for each in points)
    across, up = _WIDTH / max(last - first, 1e-9), (_HEIGHT - 4) / max(most, 1)
    places = [
        f"{(each.at - first) * across:.1f},{_HEIGHT - 2 - each.lag * up:.1f}" for each in points
    ]
    area = f"0,{_HEIGHT} {' '.join(places)} {_WIDTH},{_HEIGHT}"
    told = f"Lag over the last {seconds(last - first)}: at most {count(most)}, now "
    told += count(points[-1].lag)
    picture = tag(
        "svg",
        tag("title", told),
        tag("polygon", points=area, class_="area"),
        tag("polyline", points=" ".join(places), class_="line"),
        viewBox=f"0 0 {_WIDTH} {_HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=told,
        class_="hw-chart",
    )
    caption = tag("p", told, class_="hw-soft", style="margin: 4px 0 0")
    return tag("div", picture, caption, class_="hw-panel hw-pad", style="margin-bottom: 12px")
