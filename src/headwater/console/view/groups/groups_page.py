"""The groups of consumers: classic ones, those of the newer protocol, and share groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.groups.groups import SHARE
from headwater.console.view.formats import count, path
from headwater.console.view.listing import Heading, Listing, wanted_in
from headwater.console.view.markup import Markup, join, link, tag

if TYPE_CHECKING:
    from headwater.console.model.groups.groups import GroupRow
    from headwater.console.model.paging import Page, Wanted
    from headwater.console.view.frame import Frame

_HEADINGS = [
    Heading("Group", "name"),
    Heading("Kind", "kind"),
    Heading("State", "state"),
    Heading("Members", "members", is_number=True),
    Heading("Lag", "lag", is_number=True),
    Heading("Topics"),
]
_MOST_TOPICS = 4
_STATES = {"Stable": "good", "Empty": "", "Dead": "bad"}


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/groups"), response_timeout=30)
    async def groups_page(request: Request) -> None:
        async def rows(wanted: Wanted) -> tuple[Page[GroupRow], list[list[object]]]:
            page = await console.ask(console.groups.page, wanted)
            return page, [_row(row) for row in page.items]

        nothing = "There are no groups yet."
        listing = Listing(("groups",), wanted_in(request), _HEADINGS, rows, nothing=nothing)
        with frame.page(request, "Groups", console.commands.headwater("groups", "list")):
            with ui.element("div").classes("hw-bar"):
                listing.search_box("Search groups")
            await listing.show()


def state_pill(state: str) -> Markup:
    """Return a group's state."""
    return tag("span", state, class_=f"hw-pill {_STATES.get(state, 'warn')}")


def group_link(row: GroupRow) -> Markup:
    """Return the way to a group's page."""
    kind = SHARE if row.kind == SHARE else None
    return link(row.name, path("groups", row.name, query={"kind": kind}))


def _row(row: GroupRow) -> list[object]:
    topics: list[object] = []
    for topic in row.topics[:_MOST_TOPICS]:
        topics += [link(topic, path("topics", topic)), " "]
    if len(row.topics) > _MOST_TOPICS:
        topics.append(f"and {len(row.topics) - _MOST_TOPICS} more")
    return [
        group_link(row),
        row.kind,
        state_pill(row.state),
        count(row.members),
        count(row.lag),
        join(topics),
    ]
