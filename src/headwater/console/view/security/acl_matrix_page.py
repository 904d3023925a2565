"""ACLs as a matrix: principals in its lines, what their rights are about in its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.paging import Wanted
from headwater.console.model.security.permissions import ANYWHERE, EVERYBODY
from headwater.console.view.formats import count, path
from headwater.console.view.frame import Live
from headwater.console.view.listing import wanted_in
from headwater.console.view.markup import Markup, join, link, tag
from headwater.console.view.place import address
from headwater.console.view.security.security_tabs import has_rights, security_tabs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.console.model.security.acl_matrix import AclMatrix, Pattern, Right
    from headwater.console.view.frame import Frame

_EVERY_S = 10.0


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/security/matrix"), response_timeout=30)
    async def matrix_page(request: Request) -> None:
        wanted = wanted_in(request)
        command = console.commands.headwater("acls", "list")
        with frame.page(request, "Security", command, security_tabs("Matrix")):
            if not await has_rights(frame):
                return

            async def load() -> Markup:
                return _shown(await console.ask(console.security.matrix, wanted), wanted)

            async def search(event: object) -> None:
                nonlocal wanted
                wanted = Wanted(getattr(event, "value", "") or "")
                ui.navigate.history.replace(address(_address(wanted)))
                await live.refresh()

            live = Live(load, _EVERY_S)
            with ui.element("div").classes("hw-bar"):
                box = ui.input("Search rights", value=wanted.search, on_change=search)
                box.props("dense outlined clearable debounce=250 type=search")
                box.style("width: 300px")
            await live.show()


def _shown(matrix: AclMatrix, wanted: Wanted) -> Markup:
    if not matrix.principals.items:
        said = "Nothing is found." if wanted.search else "There are no ACLs: only super users may."
        return tag("p", said, class_="hw-soft")
    head = tag("tr", tag("th", "Principal", scope="col"), *map(_heading, matrix.patterns))
    lines = [_line(matrix, name) for name in matrix.principals.items]
    table = tag("table", tag("thead", head), tag("tbody", *lines), class_="hw-table hw-matrix")
    panel = tag("div", table, class_="hw-panel", tabindex="0", role="group", aria_label="Rights")
    return join([panel, _below(matrix, wanted)])


def _heading(pattern: Pattern) -> Markup:
    mark = None
    if pattern.is_everything:
        mark = tag("span", "all", class_="hw-pill warn")
    elif pattern.is_prefix:
        mark = tag("span", "prefix", class_="hw-pill")
    kind = pattern.resource_type.replace("_", " ").lower()
    name = f"{pattern.name}*" if pattern.is_prefix else pattern.name
    what = tag("div", kind, " ", mark, class_="hw-soft")
    return tag("th", what, tag("div", name, class_="hw-mono"), scope="col")


def _line(matrix: AclMatrix, name: str) -> Markup:
    mark = tag("span", "everybody", class_="hw-pill warn") if name == EVERYBODY else None
    cells = [tag("td", *_rights(matrix.rights.get((name, each), ()))) for each in matrix.patterns]
    return tag("tr", tag("th", name, " ", mark, scope="row"), *cells)


def _rights(rights: Sequence[Right]) -> list[object]:
    shown: list[object] = []
    for right in rights:
        words = right.operation.replace("_", " ").lower()
        text = words if right.is_allowed else f"not {words}"
        if right.host != ANYWHERE:
            text += f" from {right.host}"
        kind = "good" if right.is_allowed else "bad"
        shown += [tag("span", text, class_=f"hw-pill {kind}"), " "]
    return shown


def _below(matrix: AclMatrix, wanted: Wanted) -> Markup:
    page = matrix.principals
    parts: list[object] = [f"{count(page.found)} principals"]
    if page.pages > 1:
        parts.append(f", page {page.number} of {page.pages} ")
        for label, number in (("previous", page.number - 1), ("next", page.number + 1)):
            if 1 <= number <= page.pages:
                parts += [link(label, _address(Wanted(wanted.search, page=number))), " "]
    if matrix.more_patterns:
        parts.append(f", and {count(matrix.more_patterns)} more columns: search for what they say")
    return tag("p", *parts, class_="hw-soft", style="margin: 8px 2px")


def _address(wanted: Wanted) -> str:
    page = wanted.page if wanted.page > 1 else ""
    return path("security", "matrix", query={"q": wanted.search, "page": page})
