"""The topics: a list, a tree by what their names start with, and a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import attempted, buttons, titled_dialog
from headwater.console.view.formats import count, path, size
from headwater.console.view.frame import Live, html, user_of
from headwater.console.view.listing import Heading, Listing, wanted_in
from headwater.console.view.markup import Markup, join, link, tag
from headwater.console.view.place import go

if TYPE_CHECKING:
    from headwater.console.model.paging import Page, Wanted
    from headwater.console.model.topics import Prefix, TopicRow
    from headwater.console.view.frame import Frame

_HEADINGS = [
    Heading("Topic", "name"),
    Heading("Partitions", "partitions", is_number=True),
    Heading("Replicas", is_number=True),
    Heading("Records", "records", is_number=True),
    Heading("Size", "size", is_number=True),
    Heading("Records/s", "rate", is_number=True),
    Heading("Replication"),
]


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/topics"), response_timeout=30)
    async def topics_page(request: Request) -> None:
        prefix = request.query_params.get("prefix", "")
        with_internal = request.query_params.get("internal") == "1"

        async def rows(wanted: Wanted) -> tuple[Page[TopicRow], list[list[object]]]:
            page = await console.ask(
                console.topics.page, wanted, prefix=prefix, with_internal=with_internal
            )
            return page, [_row(row) for row in page.items]

        kept = {"prefix": prefix, "internal": "1" if with_internal else ""}
        listing = Listing(
            ("topics",),
            wanted_in(request),
            _HEADINGS,
            rows,
            kept=kept,
            nothing="There are no topics yet.",
        )
        with frame.page(request, "Topics", console.commands.headwater("topics", "list")):
            with ui.element("div").classes("hw-bar"):
                listing.search_box("Search topics")
                if console.may(user_of(request), Action.CREATE_TOPIC):
                    dialog = _creation(frame, user_of(request))
                    ui.button("New topic", on_click=dialog.open).props("unelevated")
                html(_internal_link(prefix, with_internal=with_internal))

            async def branches() -> Markup:
                return await _branches(frame, prefix, with_internal=with_internal)

            await Live(branches, None).show()
            await listing.show()


def _row(row: TopicRow) -> list[object]:
    lacking = tag("span", f"{row.under_replicated} lack replicas", class_="hw-pill warn")
    return [
        link(row.name, path("topics", row.name)),
        count(row.partitions),
        count(row.replication),
        count(row.records),
        size(row.size),
        count(row.rate),
        lacking if row.under_replicated else tag("span", "in sync", class_="hw-soft"),
    ]


async def _branches(frame: Frame, prefix: str, *, with_internal: bool) -> Markup:
    console = frame.console
    try:
        found = await console.ask(console.topics.prefixes, prefix, with_internal=with_internal)
    except ConsoleError:  # the list says it
        return Markup()
    shown = [_branch(each, with_internal=with_internal) for each in found[:40]]
    if prefix:
        query = {"internal": "1" if with_internal else ""}
        shown.insert(0, link(f"{prefix}... ✕", path("topics", query=query)))
    return tag("div", join(shown), class_="hw-chips") if shown else Markup()


def _branch(branch: Prefix, *, with_internal: bool) -> Markup:
    query = {"prefix": branch.name, "internal": "1" if with_internal else ""}
    return link(f"{branch.name} {branch.topics}", path("topics", query=query))


def _internal_link(prefix: str, *, with_internal: bool) -> Markup:
    query = {"prefix": prefix, "internal": "" if with_internal else "1"}
    text = "hide internal topics" if with_internal else "show internal topics"
    return link(text, path("topics", query=query))


def _creation(frame: Frame, user: str) -> ui.dialog:
    console = frame.console
    with titled_dialog("New topic") as dialog:
        name = ui.input("Name").props("dense outlined autofocus").classes("w-full")
        with ui.row():
            partitions = ui.number("Partitions", value=1, min=1, precision=0)
            partitions.props("dense outlined")
            replication = ui.number("Replication factor", value=-1, precision=0)
            replication.props('dense outlined hint="-1: the broker\'s"')
        settings = ui.textarea("Settings, as NAME=VALUE on a line each")
        settings.props("dense outlined rows=3").classes("w-full").style("width: 100%")
        said = html(Markup())

        async def create() -> None:
            await console.change(
                user,
                Action.CREATE_TOPIC,
                name.value,
                console.topics.create,
                name.value or "",
                int(partitions.value or 1),
                int(replication.value or -1),
                settings.value or "",
            )
            go(path("topics", name.value))

        async def attempt() -> None:
            await attempted(said, create)

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Create", on_click=attempt).props("unelevated")
    return dialog
