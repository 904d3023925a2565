"""The guided tour on the first page, until somebody has seen enough of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from headwater.console.view.frame import html
from headwater.console.view.markup import link, tag

if TYPE_CHECKING:
    from starlette.requests import Request

    from headwater.console.model.tour import Tour

_COOKIE = "headwater_tour"
_DISMISS = f"document.cookie = '{_COOKIE}=done; path=/; max-age=31536000; samesite=strict'"


def tour_panel(request: Request, tour: Tour) -> None:
    """Show the steps, unless they were dismissed in this browser."""
    if request.cookies.get(_COOKIE) == "done":
        return
    steps = [
        tag("li", link(step.title, step.link), tag("span", step.text, class_="hw-soft"))
        for step in tour.steps
    ]
    with (
        ui.element("section")
        .classes("hw-panel hw-pad hw-tour")
        .props('aria-label="Guided tour"') as panel
    ):
        html(tag("div", tag("h2", tour.title), tag("ol", *steps)))
        dismiss = ui.button("Dismiss", on_click=panel.delete).props("flat dense")
        # In the browser, and so before the panel is gone: the next page has to know of it.
        dismiss.on("click", js_handler=f"() => {{ {_DISMISS} }}")
