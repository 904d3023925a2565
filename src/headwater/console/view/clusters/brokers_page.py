"""The brokers of the cluster, and the partitions whose replicas are not all in sync."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui
from starlette.requests import Request

from headwater.console.view.clusters.nodes_section import nodes_section
from headwater.console.view.formats import UNKNOWN, count, path, size
from headwater.console.view.frame import Live, note, user_of
from headwater.console.view.markup import Markup, join, link, table, tag

if TYPE_CHECKING:
    from headwater.console.model.brokers import BrokerRow, Nodes
    from headwater.console.view.frame import Frame

_HEADINGS = (
    *("Broker", "Address", "Rack", "Leads", "Replicas", "In sync"),
    *("On disk", "Disk left"),
)


def register(frame: Frame) -> None:
    """Make the page."""
    console = frame.console

    @ui.page(frame.at("/brokers"), response_timeout=30)
    async def brokers_page(request: Request) -> None:
        async def load() -> Markup:
            return _shown(await console.ask(console.nodes))

        command = console.commands.headwater("topics", "describe", "--under-replicated")
        with frame.page(request, "Brokers", command):
            await Live(load).show()
            if console.local_nodes is not None:
                await nodes_section(frame, console.local_nodes, user_of(request))


def _shown(nodes: Nodes) -> Markup:
    parts: list[object] = [
        tag("p", f"Cluster {nodes.cluster_id}", class_="hw-soft"),
        tag(
            "div",
            table(_HEADINGS, map(_row, nodes.brokers), numbers=range(3, 8)),
            class_="hw-panel",
        ),
        tag("h2", "Under-replicated partitions"),
    ]
    if not nodes.lacking:
        parts.append(note("good", "All replicas are in sync."))
        return join(parts)
    rows = [
        (
            link(each.topic, path("topics", each.topic, "partitions")),
            each.partition.index,
            each.partition.leader if each.partition.leader >= 0 else "none",
            ", ".join(map(str, each.partition.replicas)),
            ", ".join(map(str, each.partition.in_sync)),
        )
        for each in nodes.lacking
    ]
    headings = ("Topic", "Partition", "Leader", "Replicas", "In sync")
    parts.append(tag("div", table(headings, rows, numbers=(1, 2)), class_="hw-panel"))
    if nodes.lacking_count > len(rows):
        parts.append(tag("p", f"{nodes.lacking_count - len(rows)} more are not shown."))
    return join(parts)


def _row(broker: BrokerRow) -> tuple[object, ...]:
    controls = tag("span", "controller", class_="hw-pill good") if broker.is_controller else None
    return (
        join([broker.id, " ", controls]),
        broker.address,
        broker.rack or UNKNOWN,
        count(broker.leads),
        count(broker.replicas),
        count(broker.in_sync),
        size(broker.bytes_used),
        size(broker.bytes_free),
    )
