"""What all pages have: the menu, a title, a command to copy, the theme, and who is logged in."""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nicegui import background_tasks, ui

from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Role
from headwater.console.view.markup import Markup, join, link, tag
from headwater.console.view.place import CLUSTERS, address, root
from headwater.http.principals import ANONYMOUS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

    from starlette.requests import Request

    from headwater.console.model.console import Console
    from headwater.console.model.consoles import Consoles
    from headwater.console.model.security.roles import Action

_STYLE = '<link rel="stylesheet" href="/static/console.css">'
_THEME_COOKIE = "headwater_theme"
_LOG_OUT = """\
const form = document.createElement('form');
form.method = 'post'; form.action = '/logout';
document.body.append(form); form.submit();"""


@dataclass(frozen=True)
class Tab:
    """One of several views of a thing."""

    label: str
    href: str
    is_current: bool


# So long does a page wait for what it is to show, before it says that it does.
_PAINT_WITHIN_S = 0.7


@dataclass(frozen=True)
class Frame:
    """Puts a page's content into the shell, for the pages of one cluster."""

    consoles: Consoles
    console: Console
    has_users: bool

    def at(self, path: str) -> str:
        """Return where a page of this cluster is, by its path among them."""
        root = self.consoles.place(self.console)
        return root + path if path != "/" else root or "/"

    @property
    def has_others(self) -> bool:
        """Whether there is more than one cluster."""
        return len(self.consoles) > 1

    @contextmanager
    def page(
        self,
        request: Request,
        title: str,
        command: str = "",
        tabs: Sequence[Tab] = (),
    ) -> Iterator[None]:
        """Return a context in which elements are the page's content."""
        ui.page_title(f"{title} - Headwater")
        ui.add_head_html(_STYLE)
        ui.colors(primary="#0f5f7d", negative="#b3261e")
        theme = ui.dark_mode({"dark": True, "light": False}.get(_theme(request)))
        with ui.element("div").classes("hw-shell"):
            with ui.element("aside").classes("hw-side"):
                html(self._menu(request))
            with ui.element("div").classes("hw-main"):
                with ui.element("div").classes("hw-top"):
                    html(tag("h1", title)).style("flex: 1; min-width: 0")
                    if self.has_others:
                        self._chooser(request)
                    if self.console.is_read_only:
                        html(tag("span", "read only", class_="hw-pill"))
                    if self.console.roles.are_given:
                        role = self.console.role(user_of(request))
                        html(tag("span", role.name.lower(), class_="hw-pill"))
                    _theme_switch(theme)
                    if self.has_users:
                        html(tag("span", user_of(request), class_="hw-soft"))
                        log_out = ui.button("Log out").props("flat dense")
                        log_out.on_click(lambda: ui.run_javascript(_LOG_OUT))
                if command:
                    copyable(command)
                if tabs:
                    html(tag("nav", *map(_tab, tabs), class_="hw-tabs", aria_label="Views"))
                yield

    def allows(self, request: Request, action: Action) -> bool:
        """Tell whether somebody may do what a page is for, and say so where not."""
        is_allowed = self.console.may(user_of(request), action)
        if not is_allowed:
            html(note("error", f"You may not {action.words} here."))
        return is_allowed

    def _menu(self, request: Request) -> Markup:
        current = request.url.path
        links = [
            link(label, href, aria_current="page" if _is_in(current, address(href)) else None)
            for label, href in _places(self.console, user_of(request))
        ]
        if self.has_others:
            is_current = "page" if current == CLUSTERS else None
            links.append(tag("a", "Clusters", href=CLUSTERS, aria_current=is_current))
        return join(
            [
                link("Headwater", "/", "brand"),
                tag("div", self.console.cluster.name, class_="cluster"),
                tag("nav", *links, aria_label="Pages"),
            ]
        )

    def _chooser(self, request: Request) -> None:
        """Show which cluster this is, and lead to the same view of another one."""
        user, current = user_of(request), request.url.path
        seen = [href for _, href in _places(self.console, user) if _is_in(current, address(href))]
        # The clusters' own page shows none of them.
        shown = "All clusters" if current == CLUSTERS else self.console.cluster.name
        button = ui.button(shown, icon="expand_more").props("flat dense no-caps")
        with button.classes("hw-cluster").props('title="Another cluster"'), ui.menu():
            for other in self.consoles:
                there = [href for _, href in _places(other, user) if href in seen] or ["/"]
                target = self.consoles.place(other) + there[-1]
                ui.menu_item(other.cluster.name, lambda target=target: ui.navigate.to(target))
            ui.menu_item("All clusters", lambda: ui.navigate.to(CLUSTERS))


def _places(console: Console, user: str) -> list[tuple[str, str]]:
    """Return the views that a cluster has for somebody."""
    places = [("Overview", "/"), ("Topics", "/topics"), ("Groups", "/groups")]
    if console.schemas is not None:
        places.append(("Schemas", "/schemas"))
    if console.connect is not None:
        places.append(("Connect", "/connect"))
    if console.sql is not None:
        places.append(("SQL", "/sql"))
    places += [("Pipelines", "/pipelines"), ("Security", "/security"), ("Brokers", "/brokers")]
    if console.role(user) is Role.ADMIN:
        places.append(("Audit", "/audit"))
    return places


def html(content: Markup) -> ui.html:
    """Show HTML, which the browser cleans once more before it shows it."""
    return ui.html(content, sanitize=True)


def user_of(request: Request) -> str:
    """Return who is asking."""
    return str(request.scope.get("state", {}).get("principal", ANONYMOUS))


def copyable(command: str) -> None:
    """Show a command, with a button that copies it."""
    with ui.element("div").classes("hw-command"):
        html(tag("code", command)).style("min-width: 0; overflow: hidden")
        copy = ui.button(icon="content_copy").props('flat dense size=sm aria-label="Copy command"')
        copies(copy, command)


def copies(button: ui.button, text: str) -> None:
    """Have a button copy a text, in the browser: only with the click itself is that allowed."""
    button.on("click", js_handler=f"() => navigator.clipboard.writeText({_quoted(text)})")


def note(kind: str, what: str, do: str = "") -> Markup:
    """Return a message: an error, a warning, or good news."""
    more = tag("span", do, class_="do") if do else None
    return tag("div", what, more, class_=f"hw-note {kind}", role="status")


def figures(values: Iterable[tuple[str, object]]) -> Markup:
    """Return numbers with what they are, large and beside each other."""
    shown = [
        tag("div", tag("span", name, class_="hw-soft"), tag("b", text)) for name, text in values
    ]
    return tag("div", *shown, class_="hw-figures")


class Live:
    """A part of a page that is loaded when the page is, and again every few seconds.

    What cannot be had is said above what was seen last, and comes back by itself. A page does not
    wait for it for long, but says that it does, and is filled in when it comes.
    """

    def __init__(self, load: Callable[[], Awaitable[Markup]], every_s: float | None = 5.0) -> None:
        self._load = load
        self._every_s = every_s
        self._is_loading = False

    async def show(self) -> None:
        """Load it for the first time, and show it here."""
        self._complaint = html(Markup())
        self._content = html(Markup()).classes("hw-live")
        slot = ui.context.slot

        async def load() -> None:
            with slot:
                await self.refresh()

        loading = background_tasks.create(load(), name="first load")
        await asyncio.wait({loading}, timeout=_PAINT_WITHIN_S)
        if not loading.done():
            self._content.set_content(tag("p", "Waiting for an answer ...", class_="hw-waiting"))
        if self._every_s is not None:
            ui.timer(self._every_s, self._refresh_if_idle, immediate=False)

    @property
    def content(self) -> ui.html:
        """What it is shown in."""
        return self._content

    async def refresh(self) -> None:
        """Load it again."""
        self._is_loading = True
        try:
            content = await self._load()
        except ConsoleError as failure:
            self._complaint.set_content(note("error", str(failure)))
            if "hw-waiting" in self._content.content:
                self._content.set_content("")
            return
        finally:
            self._is_loading = False
        if self._complaint.content:
            self._complaint.set_content("")
        if self._content.content != content:
            self._content.set_content(content)

    async def _refresh_if_idle(self) -> None:
        if not self._is_loading:
            await self.refresh()


def _tab(tab: Tab) -> Markup:
    current = "page" if tab.is_current else None
    return link(tab.label, tab.href, aria_current=current)


def _is_in(current: str, href: str) -> bool:
    is_overview = href in ("/", root())
    return current == href or (not is_overview and current.startswith(f"{href}/"))


def _theme(request: Request) -> str:
    return request.cookies.get(_THEME_COOKIE, "auto")


def _theme_switch(theme: ui.dark_mode) -> None:
    def switch(value: str) -> None:
        theme.set_value({"dark": True, "light": False}.get(value))

    with ui.button(icon="contrast").props('flat dense aria-label="Theme"'), ui.menu():
        for label, value in (("Light", "light"), ("Dark", "dark"), ("As the system", "auto")):
            # Kept by the browser itself, before somebody can have left the page.
            kept = f"{_THEME_COOKIE}={value}; path=/; max-age=31536000; samesite=strict"
            ui.menu_item(label).on(
                "click",
                lambda value=value: switch(value),
                js_handler=f"() => {{ document.cookie = '{kept}'; emit(); }}",
            )


def _quoted(text: str) -> str:
    return json.dumps(text).replace("<", "\\u003c")
