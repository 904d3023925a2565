"""The nodes of a cluster on this machine, which an admin stops and starts once a name was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from headwater.console.model.security.roles import Action
from headwater.console.view.dialogs import confirm_typed
from headwater.console.view.formats import UNKNOWN
from headwater.console.view.frame import Live, html
from headwater.console.view.markup import Markup, table, tag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.console.model.local_nodes import LocalNode, LocalNodes
    from headwater.console.view.frame import Frame

# Each look is a command that starts, so there are few of them.
_EVERY_S = 10.0
_HEADINGS = ("Node", "Roles", "State", "Address", "Process", "Quorum")
_STATES = {"running": "good", "starting": "warn", "down": "bad"}
_STOPPING = (
    "It hands its leaderships over and stays down until somebody starts it. Partitions that have "
    "no other replica in sync are out of reach meanwhile, and without a majority of the "
    "controllers the cluster changes nothing."
)
_STARTING = "It comes back on the ports and the data that it had."


async def nodes_section(frame: Frame, nodes: LocalNodes, user: str) -> None:
    """Show them."""
    console = frame.console
    html(tag("h2", "Nodes on this machine"))
    buttons = ui.element("div").classes("hw-bar")
    # Apart from the buttons, which are made anew while what a dialog asked for is being done.
    dialogs = ui.element("div")
    shown: list[LocalNode] = []

    async def load() -> Markup:
        found = await console.ask(nodes.all)
        is_other = [each.is_stopped for each in found] != [each.is_stopped for each in shown]
        shown[:] = found
        if is_other and console.may(user, Action.STOP_NODE):
            _fill(buttons)
        return _shown(found)

    def _fill(bar: ui.element) -> None:
        bar.clear()
        with bar:
            for node in shown:
                word = "Start" if node.is_stopped else "Stop"
                label = f"{word} {node.name}"
                button = ui.button(label, on_click=lambda node=node: _ask(node))
                button.props("outline no-caps")

    def _ask(node: LocalNode) -> None:
        async def start() -> None:
            await console.change(user, Action.START_NODE, node.name, nodes.start, node)
            await live.refresh()

        async def stop() -> None:
            await console.change(user, Action.STOP_NODE, node.name, nodes.stop, node)
            await live.refresh()

        word, warning, action = (
            ("Start", _STARTING, start) if node.is_stopped else ("Stop", _STOPPING, stop)
        )
        dialogs.clear()
        with dialogs:
            confirm_typed(f"{word} {node.name}", warning, node.name, word, action).open()

    live = Live(load, _EVERY_S)
    await live.show()


def _shown(nodes: Sequence[LocalNode]) -> Markup:
    rows = [
        (
            each.name,
            ", ".join(each.roles),
            tag("span", each.state, class_=f"hw-pill {_STATES.get(each.state, '')}"),
            each.address,
            each.pid or UNKNOWN,
            each.quorum or UNKNOWN,
        )
        for each in nodes
    ]
    return tag("div", table(_HEADINGS, rows), class_="hw-panel")
