"""The first page: services and their health, throughput, lag, what is wrong and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.view.formats import count, path, size
from headwater.console.view.frame import Live, figures, note
from headwater.console.view.groups.groups_page import group_link
from headwater.console.view.markup import Markup, join, link, table, tag
from headwater.console.view.tour_panel import tour_panel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.console.model.groups.groups import GroupRow
    from headwater.console.model.overview import Overview, Problem
    from headwater.console.model.platform import ServiceStatus
    from headwater.console.view.frame import Frame

_EVERY_S = 3.0


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/"), response_timeout=30)
    async def overview_page(request: Request) -> None:
        command = "headwater up --status" if console.platform is not None else ""

        async def load() -> Markup:
            return _shown(await console.ask(console.overview))

        with frame.page(
            request, "Overview", command or console.commands.headwater("topics", "list")
        ):
            if console.tour is not None:
                tour_panel(request, console.tour)
            await Live(load, _EVERY_S).show()


def _shown(seen: Overview) -> Markup:
    return join(
        [
            *map(_problem, seen.problems),
            None if seen.problems else note("good", "Nothing is wrong."),
            _figures(seen),
            _section("Services", _services(seen.services)) if seen.services else None,
            tag(
                "div",
                _section("Busiest topics", _busiest(seen)),
                _section("Most behind", _behind(seen.most_behind)),
                class_="hw-columns",
            ),
        ]
    )


def _problem(problem: Problem) -> Markup:
    more = link("Show", problem.href) if problem.href else None
    do = tag("span", problem.do, " ", more, class_="do")
    return tag("div", problem.what, do, class_=f"hw-note {problem.severity}", role="status")


def _figures(seen: Overview) -> Markup:
    return figures(
        [
            ("Brokers", count(seen.brokers)),
            ("Topics", count(seen.topics)),
            ("Partitions", count(seen.partitions)),
            ("Groups", count(seen.groups)),
            ("Records in /s", count(seen.records_per_s)),
            ("Total lag", count(seen.total_lag)),
            ("On disk", size(seen.bytes_used)),
            ("Disk left", size(seen.bytes_free)),
        ]
    )


def _section(title: str, content: Markup) -> Markup:
    return tag("section", tag("h2", title), content)


def _services(services: Sequence[ServiceStatus]) -> Markup:
    rows = [
        (
            each.name,
            tag("span", each.state, class_=f"hw-pill {'good' if each.is_well else 'bad'}"),
            each.restarts,
            ", ".join(each.addresses),
        )
        for each in services
    ]
    headings = ("Service", "State", "Restarts", "Address")
    return tag("div", table(headings, rows, numbers=(2,)), class_="hw-panel")


def _busiest(seen: Overview) -> Markup:
    if not seen.busiest:
        said = "Nothing is written at the moment."
        return tag(
            "p", said if seen.records_per_s is not None else "Measuring ...", class_="hw-soft"
        )
    rows = [(link(name, path("topics", name)), count(rate)) for name, rate in seen.busiest]
    return tag("div", table(("Topic", "Records/s"), rows, numbers=(1,)), class_="hw-panel")


def _behind(groups: Sequence[GroupRow]) -> Markup:
    if not groups:
        return tag("p", "No group is behind.", class_="hw-soft")
    rows = [(group_link(row), row.state, count(row.lag)) for row in groups]
    return tag("div", table(("Group", "State", "Lag"), rows, numbers=(2,)), class_="hw-panel")
