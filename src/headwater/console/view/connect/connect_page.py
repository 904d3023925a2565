"""The connectors: how each is, how far, and what is wrong with it in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.security.roles import Action
from headwater.console.view.formats import UNKNOWN, count, path
from headwater.console.view.frame import user_of
from headwater.console.view.listing import Heading, Listing, wanted_in
from headwater.console.view.markup import Markup, link, tag
from headwater.console.view.place import go

if TYPE_CHECKING:
    from headwater.console.model.connect.connect import Connect, Connector
    from headwater.console.model.paging import Page, Wanted
    from headwater.console.view.frame import Frame

_HEADINGS = [
    Heading("Connector", "name"),
    Heading("State", "state"),
    Heading("Type", "type"),
    Heading("Class"),
    Heading("Tasks", is_number=True),
    Heading("Written", is_number=True),
    Heading("Failed", is_number=True),
    Heading("Lag", is_number=True),
    Heading("Last error"),
]
_STATES = {"RUNNING": "good", "PAUSED": "warn", "STOPPED": "", "FAILED": "bad", "STALLED": "bad"}


def register(frame: Frame, connect: Connect) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/connect"), response_timeout=30)
    async def connect_page(request: Request) -> None:
        async def rows(wanted: Wanted) -> tuple[Page[Connector], list[list[object]]]:
            page = await console.ask(connect.page, wanted)
            return page, [_row(each) for each in page.items]

        nothing = "There are no connectors yet."
        listing = Listing(("connect",), wanted_in(request), _HEADINGS, rows, nothing=nothing)
        with frame.page(request, "Connect", console.commands.connect(connect.url, "list")):
            with ui.element("div").classes("hw-bar"):
                listing.search_box("Search connectors")
                if console.may(user_of(request), Action.CREATE_CONNECTOR):
                    new = ui.button("New connector").props("unelevated")
                    new.on_click(lambda: go("/connect/new"))
            await listing.show()


def connector_path(name: str, **query: object) -> str:
    """Return the address of a connector's page."""
    return path("connect", "connectors", name, query=query)


def connector_state(state: str) -> Markup:
    """Return a connector's or a task's state."""
    return tag("span", state.lower(), class_=f"hw-pill {_STATES.get(state, 'warn')}")


def _row(each: Connector) -> list[object]:
    progress = each.progress
    tasks = f"{each.running_tasks} of {len(each.tasks)}" if each.tasks else UNKNOWN
    return [
        link(each.name, connector_path(each.name)),
        connector_state(each.health),
        each.type,
        tag("span", each.class_name.rpartition(".")[2], title=each.class_name),
        tasks,
        count(progress.get("rows_written")),
        count(progress.get("rows_failed")),
        count(progress.get("lag")),
        tag("div", each.error, class_="hw-cut", title=each.error),
    ]
