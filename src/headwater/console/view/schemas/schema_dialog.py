"""A dialog that registers a schema once the registry says that it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import attempted, buttons, titled_dialog
from headwater.console.view.formats import path
from headwater.console.view.frame import html, note
from headwater.console.view.markup import Markup
from headwater.console.view.place import go

if TYPE_CHECKING:
    from headwater.console.model.schemas import Schemas
    from headwater.console.view.frame import Frame
    from headwater.serde.schema import SchemaType

_TYPES: dict[SchemaType, str] = {"AVRO": "Avro", "JSON": "JSON Schema", "PROTOBUF": "Protobuf"}


def schema_dialog(
    frame: Frame,
    schemas: Schemas,
    user: str,
    subject: str = "",
    text: str = "",
    type_: SchemaType = "AVRO",
) -> ui.dialog:
    """Return the dialog, for a new subject or a new version of one."""
    console = frame.console
    title = f"New version of {subject}" if subject else "New schema"
    with titled_dialog(title) as dialog:
        with ui.row().style("width: 100%"):
            name = ui.input("Subject", value=subject).props("dense outlined").style("flex: 1")
            kind = ui.select(_TYPES, value=type_, label="Type").props("dense outlined")
            kind.style("width: 150px")
        schema = ui.textarea("Schema", value=text).props("outlined rows=14").classes("hw-mono")
        schema.style("width: 100%")
        said = html(Markup())

        async def check() -> None:
            answer = await console.ask(
                schemas.check, name.value or "", schema.value or "", kind.value
            )
            if not answer.is_compatible:
                raise ConsoleError("It does not fit: " + "; ".join(answer.messages))
            said.set_content(note("good", "It fits: it can be registered."))

        async def register() -> None:
            await check()
            await console.change(
                user,
                Action.REGISTER_SCHEMA,
                name.value,
                schemas.register,
                name.value or "",
                schema.value or "",
                kind.value,
            )
            go(path("schemas", name.value))

        async def attempt_check() -> None:
            await attempted(said, check)

        async def attempt_register() -> None:
            await attempted(said, register)

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Check", on_click=attempt_check).props("outline")
            ui.button("Register", on_click=attempt_register).props("unelevated")
    return dialog
