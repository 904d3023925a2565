"""A dialog that moves a group to other offsets, and shows first where it would be."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from nicegui import ui

from headwater.clients.offset_plan import Target
from headwater.clients.points_in_time import parse_time
from headwater.console.model.records.questions import explained
from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import attempted, buttons, titled_dialog
from headwater.console.view.formats import count
from headwater.console.view.frame import html
from headwater.console.view.markup import Markup, table, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.clients.offset_plan import Planned
    from headwater.console.view.frame import Frame, Live

_CHOICES = {
    "earliest": "To the beginning",
    "latest": "To the end",
    "time": "To a time",
    "offset": "To an offset",
    "shift": "By so many records",
}
_MOST_SHOWN = 100


def reset_dialog(frame: Frame, group: str, user: str, live: Live) -> ui.dialog:
    """Return the dialog."""
    console = frame.console
    planned: list[Planned] = []
    with titled_dialog(f"Reset the offsets of {group}") as dialog:
        with ui.row().style("width: 100%"):
            kind = ui.select(_CHOICES, value="earliest", label="Where to").props("dense outlined")
            kind.style("width: 190px")
            number = ui.input("Time, offset or number").props("dense outlined").style("flex: 1")
            topic = ui.input("Topic; empty for all").props("dense outlined").style("flex: 1")
        said = html(Markup())

        async def preview() -> None:
            target = explained(lambda: _target(str(kind.value), (number.value or "").strip()))
            chosen = (topic.value or "").strip()
            planned[:] = await console.ask(console.groups.plan, group, chosen, target)
            said.set_content(_plan(planned))
            execute.set_enabled(bool(planned))

        async def move() -> None:
            await console.change(
                user, Action.RESET_GROUP, group, console.groups.move, group, list(planned)
            )

        async def attempt_preview() -> None:
            planned.clear()
            execute.set_enabled(False)
            await attempted(said, preview)

        async def attempt_move() -> None:
            if await attempted(said, move):
                dialog.close()
                await live.refresh()

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Preview", on_click=attempt_preview).props("outline")
            execute = ui.button("Reset", on_click=attempt_move).props("unelevated")
            execute.set_enabled(False)
    return dialog


def _target(kind: str, text: str) -> Target:
    match kind:
        case "earliest":
            return Target(to_earliest=True)
        case "latest":
            return Target(to_latest=True)
        case "time":
            return Target(to_datetime=parse_time(text, int(time.time() * 1000)))
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"'{text}' is no number") from None
    return Target(to_offset=number) if kind == "offset" else Target(shift_by=number)


def _plan(plan: Sequence[Planned]) -> Markup:
    rows = [
        (each.topic, each.partition, count(each.current), count(each.new))
        for each in plan[:_MOST_SHOWN]
    ]
    headings = ("Topic", "Partition", "Now", "Then")
    return tag("div", table(headings, rows, numbers=(1, 2, 3)), class_="hw-panel")
