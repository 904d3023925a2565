"""Security: who may do what, and who may log in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import attempted, buttons, confirm_typed, titled_dialog
from headwater.console.view.frame import html, note, user_of
from headwater.console.view.listing import Heading, Listing, wanted_in
from headwater.console.view.markup import Markup, tag
from headwater.console.view.place import go
from headwater.console.view.security.acl_dialog import acl_dialog
from headwater.console.view.security.security_tabs import has_rights, security_tabs

if TYPE_CHECKING:
    from headwater.clients.raw.acls import Acl
    from headwater.console.model.paging import Page, Wanted
    from headwater.console.model.security.security import User
    from headwater.console.view.frame import Frame

_HEADINGS = [
    Heading("Principal", "principal"),
    Heading("May"),
    Heading("Operation"),
    Heading("On"),
    Heading("Name", "resource"),
    Heading("From host"),
]


def register(frame: Frame) -> None:
    """Make the pages."""
    console = frame.console
    security = console.security

    @ui.page(frame.at("/security"), response_timeout=30)
    async def acls_page(request: Request) -> None:
        async def rows(wanted: Wanted) -> tuple[Page[Acl], list[list[object]]]:
            page = await console.ask(security.page, wanted)
            return page, [_row(acl) for acl in page.items]

        nothing = "There are no ACLs: only super users may do anything."
        listing = Listing(("security",), wanted_in(request), _HEADINGS, rows, nothing=nothing)
        command = console.commands.headwater("acls", "list")
        with frame.page(request, "Security", command, security_tabs("Rights")):
            if not await has_rights(frame):
                return
            with ui.element("div").classes("hw-bar"):
                listing.search_box("Search rights")
                if console.may(user_of(request), Action.ADD_ACL):
                    user = user_of(request)
                    for label, is_new in (("Add a right", True), ("Remove a right", False)):
                        dialog = acl_dialog(frame, user, listing, is_new=is_new)
                        button = ui.button(label, on_click=dialog.open)
                        button.props("unelevated" if is_new else "outline")
            await listing.show()

    @ui.page(frame.at("/security/users"), response_timeout=30)
    async def users_page(request: Request) -> None:
        command = console.commands.headwater("users", "list")
        with frame.page(request, "Security", command, security_tabs("Users")):
            try:
                users = await console.ask(security.users)
            except ConsoleError as failure:
                html(note("error", str(failure)))
                return
            if console.may(user_of(request), Action.SET_PASSWORD):
                dialog = _password_dialog(frame, user_of(request))
                ui.button("New user, or new password", on_click=dialog.open).props("unelevated")
            if not users:
                html(tag("p", "Nobody has a password for SCRAM.", class_="hw-soft"))
            for each in users:
                _user(frame, each, user_of(request))


def _row(acl: Acl) -> list[object]:
    is_allowed = acl.permission == "ALLOW"
    may = tag("span", "may" if is_allowed else "may not",
              class_=f"hw-pill {'good' if is_allowed else 'bad'}")  # fmt: skip
    name = f"{acl.name}*" if acl.pattern_type == "PREFIXED" else acl.name
    shown = tag("span", name, class_="hw-mono")
    kind = acl.resource_type.replace("_", " ").lower()
    return [acl.principal, may, acl.operation.lower(), kind, shown, acl.host]


def _user(frame: Frame, user: User, who: str) -> None:
    security = frame.console.security
    with ui.element("div").classes("hw-bar").style("margin-top: 10px"):
        html(tag("b", user.name))
        html(tag("span", ", ".join(user.mechanisms), class_="hw-soft"))
        if not frame.console.may(who, Action.DELETE_USER):
            return

        async def delete() -> None:
            await frame.console.change(
                who, Action.DELETE_USER, user.name, security.delete_user, user.name
            )
            go("/security/users")

        said = "The user can log in no more; who is logged in stays so."
        dialog = confirm_typed(f"Delete {user.name}", said, user.name, "Delete", delete)
        button = ui.button("Delete user", on_click=dialog.open)
        button.props(f'outline color=negative aria-label="Delete {_plain(user.name)}"')


def _plain(name: str) -> str:
    return "".join(letter for letter in name if letter.isalnum() or letter in " ._-")


def _password_dialog(frame: Frame, who: str) -> ui.dialog:
    security = frame.console.security
    with titled_dialog("A user of SASL/SCRAM") as dialog:
        name = ui.input("Name").props("dense outlined autofocus").classes("w-full")
        password = ui.input("Password", password=True).props("dense outlined").classes("w-full")
        said = html(Markup())

        async def save() -> None:
            await frame.console.change(
                who,
                Action.SET_PASSWORD,
                name.value or "",
                security.set_password,
                name.value or "",
                password.value or "",
            )
            go("/security/users")

        async def attempt() -> None:
            await attempted(said, save)

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Save", on_click=attempt).props("unelevated")
    return dialog
