"""A dialog that adds an ACL, or removes one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from headwater.clients.raw.acls import Acl
from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Action
from headwater.console.model.security.security import OPERATIONS, PATTERNS, PERMISSIONS, RESOURCES
from headwater.console.view.dialogs import attempted, buttons, titled_dialog
from headwater.console.view.frame import html
from headwater.console.view.markup import Markup

if TYPE_CHECKING:
    from headwater.console.view.frame import Frame
    from headwater.console.view.listing import Listing


def acl_dialog(frame: Frame, user: str, listing: Listing, *, is_new: bool) -> ui.dialog:
    """Return the dialog."""
    console, security = frame.console, frame.console.security
    with titled_dialog("Add a right" if is_new else "Remove a right") as dialog:
        with ui.row().style("width: 100%"):
            principal = ui.input("Principal, such as User:ann").props("dense outlined autofocus")
            principal.style("flex: 1")
            permission = _choice("Permission", PERMISSIONS)
            operation = _choice("Operation", OPERATIONS)
        with ui.row().style("width: 100%"):
            kind = _choice("On", RESOURCES)
            pattern = _choice("Named", PATTERNS)
            name = ui.input("Resource").props("dense outlined").style("flex: 1")
            host = ui.input("Host", value="*").props("dense outlined").style("width: 120px")
        said = html(Markup())

        def typed() -> Acl:
            return Acl(
                str(kind.value),
                (name.value or "").strip(),
                str(pattern.value),
                (principal.value or "").strip(),
                (host.value or "").strip() or "*",
                str(operation.value),
                str(permission.value),
            )

        async def change() -> None:
            acl = typed()
            if is_new:
                await console.change(user, Action.ADD_ACL, " ".join(acl), security.add, acl)
            elif not await console.change(
                user, Action.REMOVE_ACL, " ".join(acl), security.remove, acl
            ):
                raise ConsoleError("There is no such right.")

        async def attempt() -> None:
            if await attempted(said, change):
                dialog.close()
                await listing.refresh()

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            button = ui.button("Add" if is_new else "Remove", on_click=attempt)
            button.props("unelevated" if is_new else "unelevated color=negative")
    return dialog


def _choice(label: str, choices: tuple[str, ...]) -> ui.select:
    box = ui.select(list(choices), value=choices[0], label=label).props("dense outlined")
    box.style("width: 170px")
    return box
