"""Who may do what to a resource, and which ACLs say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.security.permissions import OPERATIONS_OF, Asked
from headwater.console.model.security.security import CLUSTER_NAME, RESOURCES
from headwater.console.view.formats import path
from headwater.console.view.frame import Live, note
from headwater.console.view.markup import Markup, join, link, table, tag
from headwater.console.view.place import go
from headwater.console.view.security.security_tabs import has_rights, security_tabs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.clients.raw.acls import Acl
    from headwater.console.model.security.permissions import Permissions, Verdict
    from headwater.console.view.frame import Frame

_MOST_PRINCIPALS = 200
_OTHERS = "everybody else"


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/security/who"), response_timeout=30)
    async def who_page(request: Request) -> None:
        asked = _asked_in(request.query_params)
        command = console.commands.headwater("acls", "list")
        with frame.page(request, "Security", command, security_tabs("Who may")):
            if not await has_rights(frame):
                return
            _form(asked)
            if not asked.name:
                return

            async def load() -> Markup:
                permissions = await console.ask(console.security.permissions)
                return _of_one(permissions, asked) if asked.principal else _all(permissions, asked)

            await Live(load, None).show()


def _form(asked: Asked) -> None:
    with ui.element("div").classes("hw-bar"):
        kind = ui.select(list(RESOURCES), value=asked.resource_type, label="On")
        kind.props("dense outlined").style("width: 170px")
        name = ui.input("Name", value=asked.name).props("dense outlined").style("width: 220px")
        principal = ui.input("Principal, such as User:ann; empty for all", value=asked.principal)
        principal.props("dense outlined").style("width: 320px")
        host = ui.input("From host; empty for those that no ACL names", value=asked.host)
        host.props("dense outlined").style("width: 340px")

        def show() -> None:
            given = [(each.value or "").strip() for each in (principal, name, host)]
            resource_type = str(kind.value)
            name_given = CLUSTER_NAME if resource_type == "CLUSTER" else given[1]
            go(_address(Asked(given[0], resource_type, name_given, given[2])))

        for box in (name, principal, host):
            box.on("keydown.enter", show)
        ui.button("Show", on_click=show).props("unelevated")


def _of_one(permissions: Permissions, asked: Asked) -> Markup:
    """Return what one principal may, operation by operation."""
    rows = [
        (_words(each.operation), _pill(each.is_allowed), each.why, _acls(each.acls))
        for each in permissions.verdicts(asked)
    ]
    shown = table(("Operation", asked.principal, "Why", "The ACLs that say so"), rows)
    return join(
        [
            _unknown(permissions),
            tag("div", shown, class_="hw-panel"),
            tag("p", link("All principals", _address(asked._replace(principal="")))),
        ]
    )


def _all(permissions: Permissions, asked: Asked) -> Markup:
    """Return what all may whom somebody has named, and what all others may."""
    named = permissions.principals()
    rows = []
    for name in (*named[:_MOST_PRINCIPALS], ""):
        verdicts = permissions.verdicts(asked._replace(principal=name))
        who = link(name, _address(asked._replace(principal=name))) if name else _OTHERS
        allowed = [each for each in verdicts if each.is_allowed]
        rows.append((who, _pills(allowed, "good"), _pills(_denied(verdicts), "bad")))
    more = len(named) - _MOST_PRINCIPALS
    return join(
        [
            _unknown(permissions),
            tag("div", table(("Principal", "May", "Is denied"), rows), class_="hw-panel"),
            tag("p", f"And {more} more.", class_="hw-soft") if more > 0 else None,
        ]
    )


def _denied(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [each for each in verdicts if not each.is_allowed and each.acls]


def _unknown(permissions: Permissions) -> Markup | None:
    if permissions.super_users is not None:
        return None
    what = "The brokers name no super users, or do not tell; those may do everything."
    return note("warning", what)


def _pill(is_allowed: bool) -> Markup:
    words, kind = ("may", "good") if is_allowed else ("may not", "bad")
    return tag("span", words, class_=f"hw-pill {kind}")


def _pills(verdicts: Iterable[Verdict], kind: str) -> Markup:
    return join(
        part
        for each in verdicts
        for part in (tag("span", _words(each.operation), class_=f"hw-pill {kind}"), " ")
    )


def _acls(acls: Iterable[Acl]) -> Markup:
    return join(tag("div", _line(acl), class_="hw-mono") for acl in acls)


def _line(acl: Acl) -> str:
    name = f"{acl.name}*" if acl.pattern_type == "PREFIXED" else acl.name
    what = f"{acl.permission} {acl.principal} {acl.operation} {acl.resource_type} {name}"
    return what if acl.host == "*" else f"{what} from {acl.host}"


def _words(operation: str) -> str:
    return operation.replace("_", " ").lower()


def _asked_in(given: Mapping[str, str]) -> Asked:
    kind = given.get("on", "")
    principal = given.get("principal", "")
    if principal and ":" not in principal:
        principal = f"User:{principal}"
    return Asked(
        principal,
        kind if kind in OPERATIONS_OF else RESOURCES[0],
        given.get("name", ""),
        given.get("host", ""),
    )


def _address(asked: Asked) -> str:
    query = {
        "on": asked.resource_type,
        "name": asked.name,
        "principal": asked.principal,
        "host": asked.host,
    }
    return path("security", "who", query=query)
