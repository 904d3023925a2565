"""A dialog that writes one record: with a key, headers, a schema, or as a tombstone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from headwater.console.model.records.producing import (
    FORMATS,
    SCHEMA,
    TEXT,
    NewRecord,
    headers_of,
    partition_of,
)
from headwater.console.model.records.questions import explained
from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import attempted, buttons, titled_dialog
from headwater.console.view.formats import path
from headwater.console.view.frame import html
from headwater.console.view.markup import Markup
from headwater.console.view.place import go

if TYPE_CHECKING:
    from headwater.console.view.frame import Frame


def produce_dialog(frame: Frame, topic: str, user: str) -> ui.dialog:
    """Return the dialog."""
    console = frame.console
    formats = [each for each in FORMATS if each != SCHEMA or console.schemas is not None]
    with titled_dialog(f"Produce to {topic}") as dialog:
        with ui.row().style("width: 100%"):
            key = ui.input("Key; empty for none").props("dense outlined").style("flex: 1")
            key_format = ui.select(formats, value=TEXT, label="Key as").props("dense outlined")
            key_format.style("width: 130px")
        with ui.row().style("width: 100%"):
            value_format = ui.select(formats, value=TEXT, label="Value as").props("dense outlined")
            value_format.style("width: 130px")
            tombstone = ui.checkbox("Tombstone (no value)")
            partition = ui.input("Partition").props("dense outlined").style("width: 100px")
        value = ui.textarea("Value").props("outlined rows=6").style("width: 100%")
        headers = ui.textarea("Headers, as NAME: VALUE on a line each")
        headers.props("outlined rows=2").style("width: 100%")
        said = html(Markup())

        def typed() -> NewRecord:
            return NewRecord(
                topic,
                key.value or None,
                None if tombstone.value else value.value or "",
                headers_of(headers.value or ""),
                partition_of(partition.value or ""),
                str(key_format.value),
                str(value_format.value),
            )

        async def produce() -> None:
            record = explained(typed)
            where = await console.change(
                user, Action.PRODUCE, topic, console.producing.produce, record
            )
            go(path("topics", topic, "records", str(where[0]), str(where[1])))

        async def attempt() -> None:
            await attempted(said, produce)

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Send", on_click=attempt).props("unelevated")
    return dialog
