"""Dialogs: before something is lost for good, its name has to be typed."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from nicegui import ui

from headwater.console.model.records.questions import ConsoleError
from headwater.console.view.frame import html, note
from headwater.console.view.markup import Markup, tag

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator


def confirm_typed(
    title: str, warning: str, name: str, label: str, action: Callable[[], Awaitable[None]]
) -> ui.dialog:
    """Return a dialog whose button works once `name` was typed."""
    with titled_dialog(title) as dialog:
        html(tag("p", warning))
        html(tag("p", "Type ", tag("b", name), " to go on."))
        typed = ui.input("Name").props("dense outlined autofocus").classes("w-full")
        said = html(Markup())

        async def act() -> None:
            if typed.value == name and await attempted(said, action):
                dialog.close()

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            button = ui.button(label, on_click=act).props("unelevated color=negative")
            button.bind_enabled_from(typed, "value", lambda value: value == name)
    return dialog


async def attempted(said: ui.html, action: Callable[[], Awaitable[None]]) -> bool:
    """Do something, and say what is in its way; returns whether it was done."""
    try:
        await action()
    except ConsoleError as failure:
        said.set_content(note("error", str(failure)))
        return False
    return True


@contextmanager
def titled_dialog(title: str) -> Iterator[ui.dialog]:
    """Return a context in which elements are a dialog's content, below its title."""
    body = "padding: 16px 20px; min-width: min(560px, 92vw); max-width: 900px; gap: 8px"
    with ui.dialog() as dialog, ui.card().classes("hw-main hw-dialog").style(body):
        # Whoever hears the page instead of seeing it is told what has opened.
        dialog.props["aria-label"] = title
        html(tag("h2", title, style="margin-top: 0"))
        yield dialog


def buttons() -> ui.row:
    """Return the row of a dialog's buttons."""
    return ui.row().style("justify-content: flex-end; width: 100%; gap: 8px; margin-top: 8px")
