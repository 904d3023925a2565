"""The worker's interface: Kafka Connect's routes, and what they exchange."""

from __future__ import annotations

from typing import Any

from headwater.connect.worker.http import connectors, offsets, plugins
from headwater.connect.worker.http.routes import ConnectRoute
from headwater.http.interface import Interface
from headwater.http.routes import Parameter

_ONE = "/connectors/{connector}"
_LOST = (404, 500, 503)
_OBJECT: dict[str, Any] = {"type": "object"}
_LIST: dict[str, Any] = {"type": "array", "items": {}}

_SCHEMAS: dict[str, Any] = {
    "Error": {
        "type": "object",
        "properties": {"error_code": {"type": "integer"}, "message": {"type": "string"}},
    },
    "Worker": _OBJECT,
    "Names": {"type": "array", "items": {"type": "string"}},
    "NewConnector": {
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "config": {"type": "object"},
            "initial_state": {"type": "string"},
        },
    },
    "Connector": _OBJECT,
    "Config": {"type": "object", "additionalProperties": {"type": "string"}},
    "Status": _OBJECT,
    "Topics": _OBJECT,
    "Tasks": _LIST,
    "Offsets": _OBJECT,
    "Message": {"type": "object", "properties": {"message": {"type": "string"}}},
    "Plugins": _LIST,
    "ConfigKeys": _LIST,
    "ConfigInfos": _OBJECT,
}

_MEANINGS = {
    400: "The configuration is refused, or the request makes no sense.",
    404: "There is no such connector, task or plug-in.",
    409: "It exists already, or is not done yet.",
    500: "Kafka did not take what should be stored.",
    503: "No worker leads at the moment.",
}


def _routes() -> list[ConnectRoute]:
    route = ConnectRoute
    return [
        route("GET", "/", connectors.get_worker, "The worker", "Worker"),
        route(
            "GET", "/connectors", connectors.list_connectors, "All connectors", "Names",
            query=(Parameter("expand", "status, info, or both: what to tell of each", "string"),),
        ),
        route(
            "POST", "/connectors", connectors.create_connector, "Make a connector", "Connector",
            "NewConnector", errors=(409, 500, 503), status=201, by_leader=True,
        ),
        route("GET", _ONE, connectors.get_connector, "A connector", "Connector", errors=(404,)),
        route(
            "DELETE", _ONE, connectors.delete_connector, "Delete a connector", "Nothing",
            errors=_LOST, status=204, by_leader=True,
        ),
        route(
            "GET", f"{_ONE}/config", connectors.get_config, "Its configuration", "Config",
            errors=(404,),
        ),
        route(
            "PUT", f"{_ONE}/config", connectors.put_config, "Make it, or change it", "Connector",
            "Config", errors=(500, 503), by_leader=True,
        ),
        route(
            "PATCH", f"{_ONE}/config", connectors.patch_config, "Change some of it", "Connector",
            "Config", errors=_LOST, by_leader=True,
        ),
        # How far a connector is, only the worker knows that runs it.
        route(
            "GET", f"{_ONE}/status", connectors.get_status, "How it is", "Status", errors=(404,),
        ),
        route(
            "PUT", f"{_ONE}/pause", connectors.pause_connector, "Let it rest", "Nothing",
            errors=_LOST, status=202, by_leader=True,
        ),
        route(
            "PUT", f"{_ONE}/resume", connectors.resume_connector, "Let it go on", "Nothing",
            errors=_LOST, status=202, by_leader=True,
        ),
        route(
            "PUT", f"{_ONE}/stop", connectors.stop_connector, "Let it give up what it holds",
            "Nothing", errors=_LOST, status=204, by_leader=True,
        ),
        route(
            "POST", f"{_ONE}/restart", connectors.restart_connector, "Open it anew", "Status",
            query=(
                Parameter("includeTasks", "whether its task, too"),
                Parameter("onlyFailed", "whether only if it has failed"),
            ),
            errors=_LOST, status=202, by_leader=True,
        ),
        route(
            "GET", f"{_ONE}/topics", connectors.get_topics, "Topics that it has used", "Topics",
            errors=(404,),
        ),
        route(
            "PUT", f"{_ONE}/topics/reset", connectors.reset_topics, "Forget which", "Nothing",
            errors=_LOST, by_leader=True,
        ),
        route("GET", f"{_ONE}/tasks", connectors.list_tasks, "Its tasks", "Tasks", errors=(404,)),
        route(
            "GET", f"{_ONE}/tasks/{{task}}/status", connectors.get_task_status, "How a task is",
            "Status", errors=(404,),
        ),
        route(
            "POST", f"{_ONE}/tasks/{{task}}/restart", connectors.restart_task,
            "Open a task anew", "Nothing", errors=_LOST, status=204, by_leader=True,
        ),
        route(
            "GET", f"{_ONE}/offsets", offsets.get_offsets, "Its offsets", "Offsets",
            errors=(404, 500),
        ),
        route(
            "PATCH", f"{_ONE}/offsets", offsets.alter_offsets, "Change some of them", "Message",
            "Offsets", errors=(*_LOST, 409), by_leader=True,
        ),
        route(
            "DELETE", f"{_ONE}/offsets", offsets.reset_offsets, "Forget them", "Message",
            errors=(*_LOST, 409), by_leader=True,
        ),
        route("GET", "/connector-plugins", plugins.list_plugins, "Kinds of connectors", "Plugins"),
        route(
            "GET", "/connector-plugins/{plugin}/config", plugins.get_plugin_config,
            "Properties of a kind", "ConfigKeys", errors=(404,),
        ),
        route(
            "PUT", "/connector-plugins/{plugin}/config/validate", plugins.validate_config,
            "Check a configuration", "ConfigInfos", "Config", errors=(404,),
        ),
    ]  # fmt: skip


INTERFACE = Interface(
    "Connect",
    _routes(),
    description="Connectors by HTTP, as Kafka Connect has them.",
    schemas=_SCHEMAS,
    meanings=_MEANINGS,
    integers=frozenset({"task"}),
)
