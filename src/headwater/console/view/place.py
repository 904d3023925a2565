"""Where a page is: in the first cluster, or in one that its address names.

Links of a page lead to pages of the same cluster. Where there is no page, in what an export says
for example, there is the first one.
"""

from __future__ import annotations

from nicegui import ui
from nicegui.slot import Slot

CLUSTERS = "/clusters"
"""The page of all of them; each one's pages lie below it, but for those of the first one."""


def root() -> str:
    """Return what addresses of this page's cluster begin with; the first one's with nothing."""
    if not Slot.get_stack():
        return ""
    page = ui.context.client.page.path
    return "/".join(page.split("/")[:3]) if page.startswith(f"{CLUSTERS}/") else ""


def address(href: str) -> str:
    """Return an address of a page of this cluster as a browser needs it."""
    return root() + href if href != "/" else root() or "/"


def go(href: str) -> None:
    """Go to a page of this cluster."""
    ui.navigate.to(address(href))
