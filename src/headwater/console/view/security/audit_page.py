"""The audit trail, for admins: who changed what, and who was not allowed to."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.security.roles import Role
from headwater.console.view.formats import instant
from headwater.console.view.frame import html, note, user_of
from headwater.console.view.listing import Heading, Listing, wanted_in
from headwater.console.view.markup import Markup, tag

if TYPE_CHECKING:
    from headwater.console.model.paging import Page, Wanted
    from headwater.console.model.security.audit import Event
    from headwater.console.view.frame import Frame

_HEADINGS = [
    Heading("Time (UTC)", "time"),
    Heading("Who", "principal"),
    Heading("What", "operation"),
    Heading("To what", "resource"),
    Heading("Outcome"),
    Heading("Why"),
]


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console
    trail = console.audit

    @ui.page(frame.at("/audit"), response_timeout=30)
    async def audit_page(request: Request) -> None:
        command = "" if trail.path is None else shlex.join(["tail", "-n", "50", str(trail.path)])
        with frame.page(request, "Audit", command):
            if console.role(user_of(request)) < Role.ADMIN:
                html(note("error", "The audit trail is for admins."))
                return

            async def rows(wanted: Wanted) -> tuple[Page[Event], list[list[object]]]:
                page = await console.ask(trail.page, wanted, console.label)
                return page, [_row(each) for each in page.items]

            nothing = "Nobody has changed anything by way of this console yet."
            listing = Listing(("audit",), wanted_in(request), _HEADINGS, rows, nothing=nothing)
            with ui.element("div").classes("hw-bar"):
                listing.search_box("Search the trail")
            if trail.path is None:
                said = "It is kept while the console runs; audit.file names a file that stays."
                html(tag("p", said, class_="hw-soft"))
            await listing.show()


def _row(event: Event) -> list[object]:
    what = event.operation.replace("_", " ").lower()
    return [
        tag("span", instant(event.time), class_="hw-mono"),
        event.principal,
        what,
        tag("div", event.resource, class_="hw-cut hw-mono", title=event.resource),
        _outcome(event),
        tag("div", event.error, class_="hw-cut", title=event.error),
    ]


def _outcome(event: Event) -> Markup:
    if not event.allowed:
        return tag("span", "refused", class_="hw-pill bad")
    if event.error:
        return tag("span", "failed", class_="hw-pill warn")
    return tag("span", "done", class_="hw-pill good")
