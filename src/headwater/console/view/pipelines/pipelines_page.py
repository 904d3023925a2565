"""Pipelines: every program, SQL query and connector, how fast it is and how far behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.programs.programs import TOPIC
from headwater.console.view.formats import UNKNOWN, count, path
from headwater.console.view.listing import Heading, Listing, wanted_in
from headwater.console.view.markup import Markup, link, tag

if TYPE_CHECKING:
    from headwater.console.model.paging import Page, Wanted
    from headwater.console.model.programs.pipelines import Pipeline
    from headwater.console.view.frame import Frame

_HEADINGS = [
    Heading("Name", "name"),
    Heading("Kind", "kind"),
    Heading("State", "state"),
    Heading("Road"),
    Heading("Rows/s", "rate", is_number=True),
    Heading("Lag", "lag", is_number=True),
    Heading("State rows", "rows", is_number=True),
    Heading("On"),
    Heading("Last error"),
]
_NOTHING = (
    "Nothing runs. Start a program with headwater run PROGRAM.py: it is here a few seconds later, "
    "whichever machine it runs on."
)
_STATES = {
    **dict.fromkeys(("running", "real-time", "catching up"), "good"),
    **dict.fromkeys(("failed", "error", "stalled", "waiting"), "bad"),
    **dict.fromkeys(("starting", "restarting", "paused"), "warn"),
}


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/pipelines"), response_timeout=30)
    async def pipelines_page(request: Request) -> None:
        async def rows(wanted: Wanted) -> tuple[Page[Pipeline], list[list[object]]]:
            page = await console.ask(console.pipelines.page, wanted)
            return page, [_row(each) for each in page.items]

        listing = Listing(("pipelines",), wanted_in(request), _HEADINGS, rows, nothing=_NOTHING)
        with frame.page(request, "Pipelines", programs_command(frame)):
            with ui.element("div").classes("hw-bar"):
                listing.search_box("Search pipelines")
            await listing.show()


def programs_command(frame: Frame) -> str:
    """Return what shows programs in a terminal: what they tell of themselves."""
    words = ("consume", TOPIC, "--offset", "30s", "--until-end", "--json")
    return frame.console.commands.headwater(*words)


def pipeline_state(state: str) -> Markup:
    """Return how a program or one of its queries is."""
    return tag("span", state or UNKNOWN, class_=f"hw-pill {_STATES.get(state, '')}")


def _row(each: Pipeline) -> list[object]:
    return [
        link(each.name, path(*each.place)),
        each.kind,
        pipeline_state(each.state),
        tag("span", each.road or UNKNOWN, class_="hw-nowrap"),
        count(each.rows_per_s),
        count(each.lag),
        count(each.state_rows),
        each.host,
        tag("div", each.error, class_="hw-cut", title=each.error),
    ]
