"""Schemas of the OpenAPI document, written shortly."""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
ANY: dict[str, Any] = {}


def object_of(*required: str, **properties: Any) -> dict[str, Any]:
    """Return the schema of an object with these properties."""
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return {**found, "required": list(required)} if required else found


def list_of(items: Any) -> dict[str, Any]:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def nullable(kind: str) -> dict[str, Any]:
    """Return the schema of what may be null."""
    return {"type": [kind, "null"]}
