"""What statements about connectors answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.server.entities.listings import Entity, entity
from headwater.sql.tree.statements.inspection import Listing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CLASS = "connector.class"
_ONLY = {Listing.SOURCE_CONNECTORS: "source", Listing.SINK_CONNECTORS: "sink"}


def created(info: Mapping[str, Any], statement: str) -> Entity:
    """Return a connector that Connect has taken."""
    return entity("connector_info", statement, info=info)


def dropped(name: str, statement: str) -> Entity:
    """Return that a connector is no more."""
    return entity("drop_connector", statement, connectorName=name)


def listed(found: Mapping[str, Any], listing: Listing, statement: str) -> Entity:
    """Return connectors of the kind that was asked for."""
    only = _ONLY.get(listing)
    shown = [
        {
            "name": name,
            "type": each["info"]["type"].upper(),
            "className": each["info"]["config"].get(_CLASS, ""),
            "state": _state(each["status"]),
        }
        for name, each in sorted(found.items())
        if only in (None, each["info"]["type"])
    ]
    return entity("connector_list", statement, connectors=shown)


def described(
    status: Mapping[str, Any], info: Mapping[str, Any], topics: Sequence[str], statement: str
) -> Entity:
    """Return how a connector is."""
    return entity(
        "connector_description",
        statement,
        connectorClass=info["config"].get(_CLASS, ""),
        status=status,
        sources=[],
        topics=list(topics),
    )


def plugins(found: Sequence[Mapping[str, Any]], statement: str) -> Entity:
    """Return what Connect can run."""
    shown = [
        {"className": each["class"], "type": each["type"].upper(), "version": each.get("version")}
        for each in found
    ]
    return entity("connector_plugins_list", statement, connectorsPlugins=shown)


def _state(status: Mapping[str, Any]) -> str:
    """Return ksqlDB's words, such as `RUNNING (1/1 tasks RUNNING)`."""
    tasks = status.get("tasks", [])
    running = sum(task["state"] == "RUNNING" for task in tasks)
    return f"{status['connector']['state']} ({running}/{len(tasks)} tasks RUNNING)"
