"""Long lists: searched as one types, sorted by a click on a heading, a page at a time.

What is seen stands in the address, so that it can be shared and gone back to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from nicegui import ui

from headwater.console.model.paging import Wanted
from headwater.console.view.formats import count, path
from headwater.console.view.frame import Live
from headwater.console.view.markup import Markup, join, link, tag
from headwater.console.view.place import address

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from starlette.requests import Request

    from headwater.console.model.paging import Page


@dataclass(frozen=True)
class Heading:
    """A column's heading; with a name, the list can be sorted by it."""

    label: str
    name: str = ""
    is_number: bool = False


def wanted_in(request: Request) -> Wanted:
    """Return what an address asks for."""
    query = request.query_params
    page = query.get("page", "1")
    return Wanted(query.get("q", ""), query.get("sort", ""), int(page) if page.isdigit() else 1)


class Listing:
    """A list with its search box; `rows` returns the page that is wanted, and its table's body."""

    def __init__(
        self,
        place: tuple[str, ...],
        wanted: Wanted,
        headings: list[Heading],
        rows: Callable[[Wanted], Awaitable[tuple[Page[object], list[list[object]]]]],
        *,
        kept: Mapping[str, object] | None = None,
        nothing: str = "There is nothing here.",
    ) -> None:
        self._place = place
        self._wanted = wanted
        self._headings = headings
        self._rows = rows
        self._kept = dict(kept or {})
        self._nothing = nothing

    def search_box(self, label: str) -> None:
        """Show the box; what is typed is searched for at once."""
        box = ui.input(label, value=self._wanted.search, on_change=self._search)
        box.props("dense outlined clearable debounce=250 type=search").style("width: 300px")

    async def show(self) -> None:
        """Show the list."""
        self._live = Live(self._load)
        await self._live.show()

    async def refresh(self) -> None:
        """Load it again: somebody has changed something."""
        await self._live.refresh()

    async def _search(self, event: object) -> None:
        text = getattr(event, "value", "") or ""
        self._wanted = replace(self._wanted, search=text, page=1)
        ui.navigate.history.replace(address(self._address(self._wanted)))
        await self._live.refresh()

    async def _load(self) -> Markup:
        page, rows = await self._rows(self._wanted)
        if not rows:
            said = "Nothing is found." if page.total else self._nothing
            return tag("p", said, class_="hw-soft")
        head = tag("tr", *map(self._heading, self._headings))
        body = [tag("tr", *map(self._cell, row, self._headings)) for row in rows]
        table = tag("table", tag("thead", head), tag("tbody", *body), class_="hw-table")
        return join([tag("div", table, class_="hw-panel"), self._pages(page)])

    def _heading(self, heading: Heading) -> Markup:
        class_ = "number" if heading.is_number else None
        if not heading.name:
            return tag("th", heading.label, class_=class_, scope="col")
        sort = self._wanted.sort
        is_current = sort.removeprefix("-") == heading.name
        first = f"-{heading.name}" if heading.is_number else heading.name
        other = heading.name if sort.startswith("-") else f"-{heading.name}"
        mark = "" if not is_current else (" ↓" if sort.startswith("-") else " ↑")
        target = replace(self._wanted, sort=other if is_current else first, page=1)
        order = None
        if is_current:
            order = "descending" if sort.startswith("-") else "ascending"
        return tag(
            "th",
            link(f"{heading.label}{mark}", self._address(target)),
            class_=class_,
            scope="col",
            aria_sort=order,
        )

    def _cell(self, content: object, heading: Heading) -> Markup:
        return tag("td", content, class_="number" if heading.is_number else None)

    def _pages(self, page: Page[object]) -> Markup:
        of = f"{count(page.found)} of {count(page.total)}"
        parts: list[object] = [
            tag("span", of if page.found != page.total else f"{count(page.total)} in all")
        ]
        if page.pages > 1:
            parts.append(f", page {page.number} of {page.pages} ")
            for label, number in (("previous", page.number - 1), ("next", page.number + 1)):
                if 1 <= number <= page.pages:
                    parts += [link(label, self._address(replace(self._wanted, page=number))), " "]
        return tag("p", *parts, class_="hw-soft", style="margin: 8px 2px")

    def _address(self, wanted: Wanted) -> str:
        query = {
            **self._kept,
            "q": wanted.search,
            "sort": wanted.sort,
            "page": wanted.page if wanted.page > 1 else "",
        }
        return path(*self._place, query=query)
