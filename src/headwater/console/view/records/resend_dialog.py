"""A dialog that sends a record once more: to its own topic, or to another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from headwater.console.model.records.producing import partition_of
from headwater.console.model.records.questions import explained
from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import attempted, buttons, titled_dialog
from headwater.console.view.formats import path
from headwater.console.view.frame import html
from headwater.console.view.markup import Markup, tag
from headwater.console.view.place import go

if TYPE_CHECKING:
    from headwater.console.model.records.resending import RecordPlace
    from headwater.console.view.frame import Frame

_WHAT = (
    "It goes with its key, value and headers as they are stored, byte for byte, and with a new "
    "timestamp. Without a partition it stays in its own one, and goes in another topic where its "
    "key belongs."
)


def resend_dialog(frame: Frame, place: RecordPlace, user: str) -> ui.dialog:
    """Return the dialog."""
    console = frame.console
    with titled_dialog("Send the record again") as dialog:
        html(tag("p", _WHAT))
        with ui.row().style("width: 100%"):
            target = ui.input("To the topic", value=place.topic).props("dense outlined autofocus")
            target.style("flex: 1")
            partition = ui.input("Partition").props("dense outlined").style("width: 100px")
        said = html(Markup())

        async def send() -> None:
            topic = (target.value or "").strip()
            chosen = explained(lambda: partition_of(partition.value or ""))
            where = await console.change(
                user, Action.PRODUCE, topic, console.resending.send, place, topic, chosen
            )
            go(path("topics", topic, "records", str(where[0]), str(where[1])))

        async def attempt() -> None:
            await attempted(said, send)

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Send", on_click=attempt).props("unelevated")
    return dialog
