"""Quotas: how much users, client ids and addresses may use, and changing that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.security.quotas import KINDS, LIMITS, QuotaChange
from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import attempted, buttons, titled_dialog
from headwater.console.view.formats import count
from headwater.console.view.frame import Live, html, user_of
from headwater.console.view.markup import Markup, table, tag
from headwater.console.view.security.security_tabs import security_tabs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.clients.raw.quotas import Entity, Quota
    from headwater.console.view.frame import Frame

_EVERYBODY = "everybody else"


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/security/quotas"), response_timeout=30)
    async def quotas_page(request: Request) -> None:
        async def load() -> Markup:
            return _shown(await console.ask(console.quotas.all))

        live = Live(load)
        command = console.commands.headwater("quotas", "list")
        with frame.page(request, "Security", command, security_tabs("Quotas")):
            if console.may(user_of(request), Action.ALTER_QUOTA):
                dialog = _dialog(frame, user_of(request), live)
                with ui.element("div").classes("hw-bar"):
                    ui.button("Change a quota", on_click=dialog.open).props("unelevated")
            await live.show()


def _shown(quotas: Sequence[Quota]) -> Markup:
    if not quotas:
        return tag("p", "There are no quotas: nobody is limited.", class_="hw-soft")
    rows = [
        (
            *(_name(each.entity, kind) for kind in KINDS),
            tag("span", each.key, class_="hw-mono"),
            count(each.value),
            tag("span", LIMITS.get(each.key, ""), class_="hw-soft"),
        )
        for each in quotas
    ]
    headings = (*KINDS.values(), "Limit", "Value", "Which is")
    return tag("div", table(headings, rows, numbers=(4,)), class_="hw-panel")


def _name(entity: Entity, kind: str) -> object:
    if kind not in entity:
        return ""
    return entity[kind] or tag("span", _EVERYBODY, class_="hw-soft")


def _dialog(frame: Frame, who: str, live: Live) -> ui.dialog:
    console = frame.console
    with titled_dialog("Change a quota") as dialog:
        with ui.row().style("width: 100%"):
            kind = ui.select(dict(KINDS), value="user", label="Of").props("dense outlined")
            kind.style("width: 170px")
            name = ui.input(f"Name; empty for {_EVERYBODY}").props("dense outlined autofocus")
            name.style("flex: 1")
        with ui.row().style("width: 100%"):
            limit = ui.select(list(LIMITS), value=next(iter(LIMITS)), label="Limit")
            limit.props("dense outlined").style("width: 260px")
            value = ui.input("Value; empty takes it away").props("dense outlined")
            value.style("flex: 1")
        said = html(Markup())

        async def change() -> None:
            typed = QuotaChange(
                str(kind.value), name.value or "", str(limit.value), value.value or ""
            )
            await console.change(who, Action.ALTER_QUOTA, typed.words, console.quotas.alter, typed)

        async def attempt() -> None:
            if await attempted(said, change):
                dialog.close()
                await live.refresh()

        with buttons():
            ui.button("Cancel", on_click=dialog.close).props("flat")
            ui.button("Save", on_click=attempt).props("unelevated")
    return dialog
