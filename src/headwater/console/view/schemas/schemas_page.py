"""The schemas: subjects, two versions side by side, and a new version that is checked first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.schemas import readable, side_by_side
from headwater.console.model.security.roles import Action
from headwater.console.view.formats import path
from headwater.console.view.frame import html, note, user_of
from headwater.console.view.listing import Heading, Listing, wanted_in
from headwater.console.view.markup import Markup, join, link, tag
from headwater.console.view.schemas.schema_dialog import schema_dialog

if TYPE_CHECKING:
    from headwater.console.model.paging import Page, Wanted
    from headwater.console.model.schemas import DiffLine, Schemas, Subject
    from headwater.console.view.frame import Frame
    from headwater.serde.schema import RegisteredSchema


def register(frame: Frame, schemas: Schemas) -> None:
    """Make the pages."""
    console = frame.console

    @ui.page(frame.at("/schemas"), response_timeout=30)
    async def subjects_page(request: Request) -> None:
        async def rows(wanted: Wanted) -> tuple[Page[str], list[list[object]]]:
            page = await console.ask(schemas.page, wanted)
            return page, [[link(name, path("schemas", name))] for name in page.items]

        nothing = "There are no schemas yet."
        headings = [Heading("Subject")]
        listing = Listing(("schemas",), wanted_in(request), headings, rows, nothing=nothing)
        with frame.page(request, "Schemas", console.commands.registry("/subjects")):
            with ui.element("div").classes("hw-bar"):
                listing.search_box("Search subjects")
                if console.may(user_of(request), Action.REGISTER_SCHEMA):
                    dialog = schema_dialog(frame, schemas, user_of(request))
                    ui.button("New schema", on_click=dialog.open).props("unelevated")
            await listing.show()

    @ui.page(frame.at("/schemas/{subject:path}"), response_timeout=30)
    async def subject_page(request: Request, subject: str) -> None:
        command = console.commands.registry(f"{path('subjects', subject)}/versions/latest")
        with frame.page(request, subject, command):
            try:
                found = await console.ask(schemas.subject, subject)
                new, old = _chosen(request, found)
                shown = await console.ask(schemas.version, subject, new)
                before = None if old is None else await console.ask(schemas.version, subject, old)
            except ConsoleError as failure:
                html(note("error", str(failure)))
                return
            if console.may(user_of(request), Action.REGISTER_SCHEMA):
                text = readable(shown.schema)
                dialog = schema_dialog(
                    frame, schemas, user_of(request), subject, text, shown.schema.type
                )
                ui.button("New version", on_click=dialog.open).props("unelevated").style(
                    "margin-bottom: 10px"
                )
            html(_shown(found, shown, before))


def _chosen(request: Request, subject: Subject) -> tuple[int, int | None]:
    """Return the version to show, and the one to compare it with."""

    def given(name: str) -> int | None:
        text = request.query_params.get(name, "")
        return int(text) if text.isdigit() and int(text) in subject.versions else None

    new = given("version") or subject.versions[-1]
    earlier = [version for version in subject.versions if version < new]
    return new, given("against") or (earlier[-1] if earlier else None)


def _shown(subject: Subject, shown: RegisteredSchema, before: RegisteredSchema | None) -> Markup:
    level = subject.compatibility + ("" if subject.is_own_level else " (the global level)")
    links = [
        link(
            f"version {version}",
            path("schemas", subject.name, query={"version": version}),
            aria_current="page" if version == shown.version else None,
        )
        for version in reversed(subject.versions)
    ]
    parts: list[object] = [
        tag("p", "Compatibility ", tag("span", level, class_="hw-pill")),
        tag("div", *links, class_="hw-chips"),
        tag("p", f"Id {shown.id}, {shown.schema.type}", class_="hw-soft"),
    ]
    if shown.schema.references:
        refer = [
            link(
                f"{each.name} ({each.subject}, version {each.version})",
                path("schemas", each.subject),
            )
            for each in shown.schema.references
        ]
        parts.append(tag("p", "Refers to ", join(refer)))
    text = readable(shown.schema)
    if before is None:
        parts.append(tag("pre", text))
        return join(parts)
    lines = side_by_side(readable(before.schema), text)
    head = tag(
        "tr",
        tag("th", f"Version {before.version}", scope="col"),
        tag("th", f"Version {shown.version}", scope="col"),
    )
    table = tag("table", tag("thead", head), tag("tbody", *map(_line, lines)), class_="hw-diff")
    parts.append(tag("div", table, class_="hw-panel"))
    return join(parts)


def _line(line: DiffLine) -> Markup:
    left = "removed" if line.is_changed and line.left is not None else None
    right = "added" if line.is_changed and line.right is not None else None
    return tag(
        "tr", tag("td", line.left or "", class_=left), tag("td", line.right or "", class_=right)
    )
