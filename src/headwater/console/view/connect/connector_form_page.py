"""A new connector, or another configuration of one: a form of what its plug-in takes, or JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.connect.connect import RUNNING
from headwater.console.model.connect.connector_form import (
    CLASS,
    NAME,
    config_in,
    errors_of,
    fields_of,
    readable,
    shown,
    without_hidden,
)
from headwater.console.model.records.questions import ConsoleError, explained
from headwater.console.model.security.roles import Action
from headwater.console.view.connect.connect_page import connector_path
from headwater.console.view.connect.connector_fields import ConnectorFields
from headwater.console.view.dialogs import attempted
from headwater.console.view.frame import html, note, user_of
from headwater.console.view.markup import Markup, tag
from headwater.console.view.place import go

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.console.model.connect.connect import Connect
    from headwater.console.view.frame import Frame

_STATES = {RUNNING: "Running", "PAUSED": "Paused", "STOPPED": "Stopped"}


def register(frame: Frame, connect: Connect) -> None:
    """Make the pages."""

    @ui.page(frame.at("/connect/new"), response_timeout=30)
    async def new_page(request: Request) -> None:
        command = frame.console.commands.connect(connect.url, "create", "connector.json")
        with frame.page(request, "New connector", command):
            if not frame.allows(request, Action.CREATE_CONNECTOR):
                return
            await _Form(frame, connect, user_of(request), _given(request)).show()

    @ui.page(frame.at("/connect/edit/{name:path}"), response_timeout=30)
    async def edit_page(request: Request, name: str) -> None:
        with frame.page(request, f"Configuration of {name}"):
            if not frame.allows(request, Action.ALTER_CONNECTOR):
                return
            try:
                found = await frame.console.ask(connect.one, name)
            except ConsoleError as failure:
                html(note("error", str(failure)))
                return
            await _Form(frame, connect, user_of(request), found.config, name).show()


def _given(request: Request) -> dict[str, str]:
    """Return the configuration that an address begins with; nothing is made of it by itself."""
    query = request.query_params
    try:
        return config_in(query["config"]) if "config" in query else {CLASS: query.get("class", "")}
    except ValueError:
        return {}


class _Form:
    """A configuration that is being made; the form and the JSON beside it show the same."""

    def __init__(
        self,
        frame: Frame,
        connect: Connect,
        user: str,
        config: Mapping[str, str],
        existing: str = "",
    ) -> None:
        self._console = frame.console
        self._connect = connect
        self._user = user
        self._before = config
        self._existing = existing
        self._config = shown(config)

    async def show(self) -> None:
        """Show all of it."""
        try:
            plugins = await self._console.ask(self._connect.plugins)
        except ConsoleError as failure:
            html(note("error", str(failure)))
            return
        choices = {each.class_name: f"{each.short_name} ({each.type})" for each in plugins}
        chosen = self._config.get(CLASS, "")
        if chosen and chosen not in choices:
            choices = {chosen: chosen, **choices}
        with ui.element("div").classes("hw-bar"):
            self._name = ui.input("Name", value=self._config.get(NAME, "")).props("dense outlined")
            self._name.style("width: 260px").on_value_change(self._typed)
            if self._existing:
                self._name.props("readonly")
            self._kind = ui.select(choices, value=chosen or None, label="Kind of connector")
            self._kind.props("dense outlined").style("width: 320px")
            self._kind.on_value_change(self._change_kind)
            if not self._existing:
                self._state = ui.select(_STATES, value=RUNNING, label="At first")
                self._state.props("dense outlined").style("width: 140px")
        with ui.element("div").classes("hw-split"):
            with ui.element("div"):
                self._fields = ConnectorFields(self._typed)
            with ui.element("div"):
                self._json = ui.textarea("Configuration as JSON", value=readable(self._config))
                self._json.props("outlined rows=18").classes("hw-mono")
                self._json.style("width: 100%").on_value_change(self._edited)
                self._said = html(Markup())
                with ui.row().style("gap: 8px; margin-top: 8px"):
                    ui.button("Validate", on_click=self._attempt_check).props("outline")
                    label = "Save" if self._existing else "Create"
                    ui.button(label, on_click=self._attempt_save).props("unelevated")
        if chosen:
            await self._draw()

    async def _change_kind(self) -> None:
        self._config = {**self._config, CLASS: str(self._kind.value or "")}
        await self._draw()
        self._show_json()

    async def _draw(self) -> None:
        """Ask the plug-in what it takes, and make the form of that."""
        try:
            infos = await self._console.ask(
                # Whatever is not there yet, the name is no reason to look no further.
                self._connect.validate,
                self._config[CLASS],
                {NAME: "connector", **self._full()},
            )
        except ConsoleError as failure:
            self._said.set_content(note("error", str(failure)))
            return
        self._fields.draw(fields_of(infos), self._config)

    def _typed(self) -> None:
        """Somebody has changed the form."""
        known = self._fields.names
        others = {name: text for name, text in self._config.items() if name not in known}
        self._config = {**others, NAME: self._name.value or "", **self._fields.values()}
        self._show_json()

    def _show_json(self) -> None:
        self._json.set_value(readable({k: v for k, v in self._config.items() if v != ""}))

    async def _edited(self) -> None:
        """Somebody has changed the JSON; while it is none, the form stays as it is."""
        try:
            config = config_in(self._json.value or "")
        except ValueError:
            return
        if config == {k: v for k, v in self._config.items() if v != ""}:
            return
        is_other = config.get(CLASS, "") != self._config.get(CLASS, "")
        self._config = config
        self._name.set_value(config.get(NAME, ""))
        if is_other and config.get(CLASS) in self._kind.options:
            self._kind.set_value(config[CLASS])
        else:
            self._fields.fill(config)

    def _full(self) -> dict[str, str]:
        """Return the configuration with its secrets, and without what was left empty."""
        config = without_hidden(self._config, self._before)
        return {name: text for name, text in config.items() if text != ""}

    async def _check(self) -> dict[str, str]:
        explained(lambda: config_in(self._json.value or ""))
        config = self._full()
        if not config.get(CLASS):
            raise ConsoleError("Choose what kind of connector it is.")
        infos = await self._console.ask(self._connect.validate, config[CLASS], config)
        errors = errors_of(infos)
        self._fields.complain(errors)
        if errors:
            elsewhere = [
                f"{name}: {'; '.join(said)}"
                for name, said in errors.items()
                if name not in self._fields.names
            ]
            said = "It is refused; what is wrong stands beside the settings. "
            raise ConsoleError(said + " ".join(elsewhere))
        return config

    async def _save(self) -> None:
        config = await self._check()
        if self._existing:
            name = self._existing
            await self._console.change(
                self._user, Action.ALTER_CONNECTOR, name, self._connect.configure, name, config
            )
        else:
            name, state = config.get(NAME, ""), str(self._state.value)
            await self._console.change(
                self._user,
                Action.CREATE_CONNECTOR,
                name,
                self._connect.create,
                name,
                config,
                state,
            )
        go(connector_path(name))

    async def _attempt_check(self) -> None:
        async def check() -> None:
            await self._check()
            self._said.set_content(tag("div", note("good", "It is valid.")))

        await attempted(self._said, check)

    async def _attempt_save(self) -> None:
        await attempted(self._said, self._save)
