"""The OpenAPI document, made from a service's table of routes."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec

from headwater import __version__

if TYPE_CHECKING:
    from headwater.http.interface import Interface
    from headwater.http.routes import Route


def document(interface: Interface[Any]) -> bytes:
    """Return the document as JSON."""
    paths: dict[str, dict[str, Any]] = {}
    names: set[str] = set()
    for route in interface.routes:
        operation = {"operationId": _unique_name(route, names), **_operation(interface, route)}
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    info = {
        "title": interface.title,
        "version": __version__,
        "description": interface.description,
    }
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": info,
            "paths": paths,
            "components": {"schemas": interface.schemas},
        }
    )


def _unique_name(route: Route, names: set[str]) -> str:
    name = route.handler.__name__
    if name in names:
        last = route.segments[-1] if route.segments else ""
        name += f"_of_{last[1:-1]}" if last.startswith("{") else f"_{route.method.lower()}"
    names.add(name)
    return name


def _operation(interface: Interface[Any], route: Route) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary,
        "parameters": [
            {
                "name": part[1:-1],
                "in": "path",
                "required": True,
                "schema": {"type": "integer" if part[1:-1] in interface.integers else "string"},
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
        "responses": {str(route.status): _answer(interface, route)}
        | {str(status): _error(interface, status) for status in route.documented_errors()},
    }
    if route.body is not None:
        operation["requestBody"] = {"required": True, "content": _content(interface, route.body)}
    return operation


def _answer(interface: Interface[Any], route: Route) -> dict[str, Any]:
    if route.answer == "Nothing":
        return {"description": "It is done."}
    return {"description": route.summary, "content": _content(interface, route.answer)}


def _error(interface: Interface[Any], status: int) -> dict[str, Any]:
    meaning = interface.meanings.get(status, HTTPStatus(status).phrase)
    return {"description": meaning, "content": _content(interface, "Error")}


def _content(interface: Interface[Any], schema: str) -> dict[str, Any]:
    reference = {"$ref": f"#/components/schemas/{schema}"}
    return {offered: {"schema": reference} for offered in interface.media.offered}
