"""All clusters of this console: which of them answer, and what is wrong in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.view.formats import count
from headwater.console.view.frame import Live
from headwater.console.view.markup import Markup, join, table, tag
from headwater.console.view.place import CLUSTERS

if TYPE_CHECKING:
    from headwater.console.model.consoles import Glance
    from headwater.console.view.frame import Frame

_HEADINGS = (
    *("Cluster", "State", "Brokers", "Topics", "Partitions", "Groups"),
    *("Without leader", "Lack replicas", "Address"),
)


def register(frame: Frame) -> None:
    """Make the page."""

    @ui.page(CLUSTERS, response_timeout=30)
    async def clusters_page(request: Request) -> None:
        async def load() -> Markup:
            rows = [_row(each) for each in await frame.consoles.glances()]
            return tag("div", table(_HEADINGS, rows, numbers=range(2, 8)), class_="hw-panel")

        with frame.page(request, "Clusters"):
            await Live(load).show()


def _row(glance: Glance) -> tuple[object, ...]:
    name = tag("a", glance.name, href=glance.place or "/")
    only = tag("span", "read only", class_="hw-pill") if glance.is_read_only else None
    return (
        join([name, " ", only]),
        _state(glance),
        *map(count, (glance.brokers, glance.topics, glance.partitions, glance.groups)),
        *map(count, (glance.leaderless, glance.under_replicated)),
        glance.bootstrap_servers,
    )


def _state(glance: Glance) -> Markup:
    if glance.problem:
        silent = tag("span", "silent", class_="hw-pill bad")
        return join([silent, " ", tag("span", glance.problem, class_="hw-soft")])
    if glance.leaderless:
        return tag("span", "partitions are out of reach", class_="hw-pill bad")
    if glance.under_replicated:
        return tag("span", "replicas are missing", class_="hw-pill warn")
    return tag("span", "well", class_="hw-pill good")
