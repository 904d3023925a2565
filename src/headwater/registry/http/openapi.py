"""The OpenAPI document, made from the table of routes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from headwater import __version__
from headwater.registry.http.answer import OFFERED
from headwater.registry.http.api import ROUTES
from headwater.registry.http.openapi_schemas import SCHEMAS

if TYPE_CHECKING:
    from headwater.registry.http.routes import Route

_MEANINGS = {
    400: "The request is malformed.",
    404: "There is no such thing; the error's code says which.",
    409: "The schema is incompatible; the message says why and what to do.",
    422: "It cannot be done; the error's code and message say why.",
    500: "Kafka or the leader could not be reached.",
}


def document() -> bytes:
    """Return the document as JSON."""
    paths: dict[str, dict[str, Any]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Headwater Schema Registry",
                "version": __version__,
                "description": "Compatible with Confluent's Schema Registry. Every path below "
                "/subjects, /schemas, /compatibility, /config and /mode also exists below "
                "/contexts/{context}, where names mean subjects of that context.",
            },
            "paths": paths,
            "components": {"schemas": SCHEMAS},
        }
    )


def _operation(route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.handler.__name__
        + ("_of_subject" if route.path in ("/config/{subject}", "/mode/{subject}") else "")
        + ("_post" if (route.method, route.path) == ("POST", "/") else ""),
        "summary": route.summary,
        "parameters": [
            {
                "name": part[1:-1],
                "in": "path",
                "required": True,
                "schema": {"type": "integer" if part == "{id}" else "string"},
            }
            for part in route.segments
            if part.startswith("{")
        ]
        + [
            {
                "name": each.name,
                "in": "query",
                "description": each.description,
                "schema": {"type": each.type},
            }
            for each in route.query
        ],
        "responses": {str(route.status): _answer(route)}
        | {str(status): _error(status) for status in _errors(route)},
    }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": _content(route.body)}
    return operation


def _errors(route: Route) -> list[int]:
    errors = set(route.errors) | ({400} if route.body is not None else set())
    return sorted(errors | ({500} if route.writes else set()))


def _answer(route: Route) -> dict[str, Any]:
    if route.answer == "Nothing":
        return {"description": "It is done."}
    return {"description": route.summary, "content": _content(route.answer)}


def _error(status: int) -> dict[str, Any]:
    return {"description": _MEANINGS[status], "content": _content("Error")}


def _content(schema: str) -> dict[str, Any]:
    return {offered: {"schema": {"$ref": f"#/components/schemas/{schema}"}} for offered in OFFERED}
