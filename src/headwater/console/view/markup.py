"""HTML that is written by hand, in which everything that is shown is escaped.

Records, names and messages are whatever somebody wrote. `tag` escapes all text that is not
`Markup`, and only `tag` and `join` make `Markup`.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from headwater.console.view.place import address

if TYPE_CHECKING:
    from collections.abc import Iterable


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *content: object, **attributes: object) -> Markup:
    """Return an element; `class_` is its class, and what is None is left out.

    >>> tag("a", "<b>", href="/?a&b", class_="link")
    '<a href="/?a&amp;b" class="link">&lt;b&gt;</a>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{join(content)}</{name}>")


def join(parts: Iterable[object]) -> Markup:
    """Return all parts one after the other; None is nothing."""
    return Markup(
        "".join(
            part if isinstance(part, Markup) else escape(str(part))
            for part in parts
            if part is not None
        )
    )


def link(text: object, href: str, class_: str | None = None, **attributes: object) -> Markup:
    """Return a link to a page of this console, in the cluster whose page it stands on."""
    if not href.startswith("/") or href.startswith("//"):
        raise ValueError(f"'{href}' leads out of the console")
    return tag("a", text, href=address(href), class_=class_, **attributes)


def table(
    headings: Iterable[object], rows: Iterable[Iterable[object]], *, numbers: Iterable[int] = ()
) -> Markup:
    """Return a table; `numbers` are the columns that are aligned to the right."""
    right = set(numbers)

    def cell(name: str, position: int, content: object) -> Markup:
        scope = "col" if name == "th" else None
        return tag(name, content, class_="number" if position in right else None, scope=scope)

    head = tag("tr", *(cell("th", i, each) for i, each in enumerate(headings)))
    body = [tag("tr", *(cell("td", i, each) for i, each in enumerate(row))) for row in rows]
    return tag("table", tag("thead", head), tag("tbody", *body), class_="hw-table")
