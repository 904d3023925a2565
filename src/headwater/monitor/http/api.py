"""The monitor's interface: the table of all routes."""

from __future__ import annotations

from typing import Any

from headwater.http.interface import Interface
from headwater.http.routes import Route
from headwater.monitor.http import alerts, burrow

_ERRORS = (404, 503)
_CONSUMER = "/v3/kafka/{cluster}/consumer"
_TOPIC = "/v3/kafka/{cluster}/topic"

_STRING = {"type": "string"}


def _schema(**content: dict[str, Any]) -> dict[str, Any]:
    properties = {"error": {"type": "boolean"}, "message": _STRING, **content}
    return {"type": "object", "properties": properties, "required": [*properties]}


def _array(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


INTERFACE = Interface(
    "Headwater Monitor",
    [
        Route("GET", "/v3/kafka", burrow.list_clusters, "List clusters", "Clusters"),
        Route("GET", _CONSUMER, burrow.list_consumers, "List groups", "Consumers", errors=_ERRORS),
        Route(
            "GET", f"{_CONSUMER}/{{group}}/status", burrow.get_status,
            "Tell how a group is, and which of its partitions are not well", "Status",
            errors=_ERRORS,
        ),
        Route(
            "GET", f"{_CONSUMER}/{{group}}/lag", burrow.get_lag,
            "Tell how a group is, with all of its partitions", "Status", errors=_ERRORS,
        ),
        Route("GET", _TOPIC, burrow.list_topics, "List topics", "Topics", errors=_ERRORS),
        Route(
            "GET", f"{_TOPIC}/{{topic}}", burrow.get_topic, "Tell where a topic ends", "Offsets",
            errors=_ERRORS,
        ),
        Route("GET", "/api/v1/alerts", alerts.list_alerts, "List what is wrong now", "Prometheus"),
        Route("GET", "/api/v1/rules", alerts.list_rules, "List what is checked", "Prometheus"),
    ],
    description="How far consumer groups are behind, and whether that is well.",
    schemas={
        "Error": _schema(),
        "Clusters": _schema(clusters=_array(_STRING)),
        "Consumers": _schema(consumers=_array(_STRING)),
        "Topics": _schema(topics=_array(_STRING)),
        "Offsets": _schema(offsets=_array({"type": ["integer", "null"]})),
        "Prometheus": {
            "type": "object",
            "properties": {"status": _STRING, "data": {"type": "object"}},
            "required": ["status", "data"],
        },
        "Status": _schema(status={"type": "object"}),
    },
    meanings={404: "There is no such cluster, group or topic.", 503: "The cluster is not there."},
    form=burrow.error,
)  # fmt: skip
