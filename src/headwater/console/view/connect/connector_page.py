"""A connector: state, tasks, errors in full, progress, configuration, offsets, and its levers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.model.connect.connector_flow import ConnectorFlow
from headwater.console.model.connect.connector_form import readable, shown
from headwater.console.model.records.questions import ConsoleError
from headwater.console.model.security.roles import Action
from headwater.console.view.connect.connect_page import connector_path, connector_state
from headwater.console.view.dialogs import confirm_typed
from headwater.console.view.formats import UNKNOWN, count, path
from headwater.console.view.frame import Live, Tab, figures, note, user_of
from headwater.console.view.markup import Markup, join, link, table, tag
from headwater.console.view.pipelines.topology_picture import drawn
from headwater.console.view.place import go

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.console.model.connect.connect import Connect, Connector, Task
    from headwater.console.model.programs.topology import Node
    from headwater.console.view.frame import Frame

_EVERY_S = 3.0
_MOST_OFFSETS = 500
_ROWS = (
    ("Rows read", "rows_read"),
    ("Rows written", "rows_written"),
    ("Rows filtered", "rows_filtered"),
    ("Rows failed", "rows_failed"),
    ("Lag", "lag"),
    ("Restarts", "restarts"),
)
_DONE = {"pause": "paused", "resume": "resumed", "stop": "stopped", "restart": "restarted"}


def register(frame: Frame, connect: Connect) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/connect/connectors/{name:path}"), response_timeout=30)
    async def connector_page(request: Request, name: str) -> None:
        view = request.query_params.get("view", "state")

        flow = ConnectorFlow()

        def flowing(connector: Connector, topics: list[str]) -> list[Node]:
            lags = console.groups.lags(f"connect-{name}")
            return flow.nodes(connector, topics, console.cluster.look().rates, lags)

        async def load() -> Markup:
            if view == "offsets":
                return _offsets(await console.ask(connect.offsets, name))
            connector = await console.ask(connect.one, name)
            if view == "config":
                return tag("pre", readable(shown(connector.config)))
            topics = await console.ask(connect.topics, name)
            return _state(connector, topics, await console.ask(flowing, connector, topics))

        tabs = [
            Tab(label, connector_path(name, view=each), each == view)
            for label, each in (
                *(("State", "state"), ("Configuration", "config")),
                ("Offsets", "offsets"),
            )
        ]
        command = console.commands.connect(
            connect.url, "offsets" if view == "offsets" else "describe", name
        )
        with frame.page(request, name, command, tabs):
            live = Live(load, _EVERY_S)
            if console.may(user_of(request), Action.CONTROL_CONNECTOR):
                _Levers(frame, connect, name, user_of(request), live).show(view)
            await live.show()


class _Levers:
    """What can be done to a connector."""

    def __init__(self, frame: Frame, connect: Connect, name: str, user: str, live: Live) -> None:
        self._console = frame.console
        self._connect = connect
        self._name = name
        self._user = user
        self._live = live

    def show(self, view: str) -> None:
        """Show the buttons."""
        name = self._name
        deleting = confirm_typed(
            f"Delete {name}",
            "The connector is deleted. What it has written stays, and so do its offsets: one of "
            "the same name goes on there.",
            name,
            "Delete",
            self._delete,
        )
        with ui.element("div").classes("hw-bar"):
            if view == "offsets":
                resetting = confirm_typed(
                    f"Reset the offsets of {name}",
                    "It forgets how far it was, and begins anew. It has to be stopped for that.",
                    name,
                    "Reset",
                    self._reset,
                )
                ui.button("Reset offsets", on_click=resetting.open).props("outline")
                return
            for action in _DONE:
                button = ui.button(action.capitalize()).props("outline")
                button.on_click(lambda _, action=action: self._act(action))
            edit = ui.button("Edit").props("outline")
            edit.on_click(lambda: go(path("connect", "edit", name)))
            button = ui.button("Delete connector", on_click=deleting.open)
            button.props("outline color=negative")

    async def _act(self, action: str) -> None:
        name = self._name
        try:
            await self._console.change(
                self._user, Action.CONTROL_CONNECTOR, name, self._connect.act, name, action
            )
        except ConsoleError as failure:
            ui.notify(str(failure), type="negative", multi_line=True)
            return
        ui.notify(f"{name} is {_DONE[action]}.")
        await self._live.refresh()

    async def _delete(self) -> None:
        name = self._name
        await self._console.change(
            self._user, Action.DELETE_CONNECTOR, name, self._connect.delete, name
        )
        go("/connect")

    async def _reset(self) -> None:
        name = self._name
        said = await self._console.change(
            self._user, Action.RESET_CONNECTOR, name, self._connect.reset_offsets, name
        )
        ui.notify(said or f"{name} begins anew.")
        await self._live.refresh()


def _state(connector: Connector, topics: list[str], nodes: list[Node]) -> Markup:
    progress = connector.progress
    known: list[tuple[str, object]] = [
        ("State", connector_state(connector.health)),
        ("Type", connector.type),
        ("Tasks", f"{connector.running_tasks} of {len(connector.tasks)}"),
    ]
    known += [(label, count(progress[key])) for label, key in _ROWS if key in progress]
    parts: list[object] = [figures(known)]
    if connector.full_error:
        trace = tag("pre", connector.full_error)
        more = tag("details", tag("summary", "In full"), trace, class_="hw-trace")
        parts.append(tag("div", connector.error, more, class_="hw-note error", role="status"))
    elif progress.get("stalled"):
        said = "It has been at one batch for very long."
        parts.append(note("warning", said, "Look at what it reads from or writes to; restart it."))
    parts.append(drawn(nodes))
    parts.append(tag("p", tag("span", connector.class_name, class_="hw-mono hw-soft")))
    places: list[object] = [join([link(each, path("topics", each)), " "]) for each in topics] or [
        "none yet"
    ]
    parts.append(tag("p", "Topics: ", *places))
    if connector.type == "sink":
        group = f"connect-{connector.name}"
        parts.append(tag("p", "Group: ", link(group, path("groups", group))))
    if connector.tasks:
        parts += [tag("h2", "Tasks"), _tasks(connector.tasks)]
    return join(parts)


def _tasks(tasks: Sequence[Task]) -> Markup:
    rows = [
        (
            each.id,
            connector_state(each.state),
            each.worker or UNKNOWN,
            tag("div", each.trace.partition("\n")[0], class_="hw-cut"),
        )
        for each in tasks
    ]
    headings = ("Task", "State", "Worker", "Error")
    return tag("div", table(headings, rows, numbers=(0,)), class_="hw-panel")


def _offsets(offsets: list[tuple[object, object]]) -> Markup:
    if not offsets:
        return tag("p", "It has no offsets yet.", class_="hw-soft")
    rows = [(_json(a), _json(b)) for a, b in offsets[:_MOST_OFFSETS]]
    return tag("div", table(("Partition", "Offset"), rows), class_="hw-panel")


def _json(value: object) -> Markup:
    return tag("code", json.dumps(value, ensure_ascii=False))
