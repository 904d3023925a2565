"""The interface: its routes, and what bodies look like in the OpenAPI document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.http.app import App, call_handler
from headwater.http.background import serve_in_background
from headwater.http.interface import Interface
from headwater.http.metrics import RequestMetrics
from headwater.http.routes import Parameter, Route
from headwater.stores.http import handlers

if TYPE_CHECKING:
    from headwater.stores.opening import Stores


def serve_stores(stores: Stores, port: int, host: str = "127.0.0.1") -> int:
    """Open all stores and serve them as long as the process lives; returns the port.

    Raises StoreError and ListenError.
    """
    for name in stores.names:
        stores.get(name)
    app = App(INTERFACE, call_handler(stores), RequestMetrics("headwater_stores"))
    return serve_in_background(app, host, port, "stores")


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _array(schema: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{schema}"}}


_TEXT: dict[str, Any] = {"type": "string"}
_TIME: dict[str, Any] = {"type": "string", "format": "date-time"}
_POSITION: dict[str, Any] = {"$ref": "#/components/schemas/Position"}
_BOUND = (
    Parameter("at_least", 'A position to wait for, as {"orders":{"0":17}}.', "string"),
    Parameter("timeout_ms", "How long to wait for it, by default 10,000.", "integer"),
    Parameter("stale", "Answer also while the store loads, with what is there."),
)
_PAGE = (
    Parameter("reverse", "The last ones first."),
    Parameter("limit", "How many, by default 100 and at most 10,000.", "integer"),
)
_TIMES = (
    Parameter("time_from", "The first start of a window, as 2026-01-01T00:00:00Z.", "string"),
    Parameter("time_to", "The last start of a window.", "string"),
)
_ERRORS = (400, 404, 503)

INTERFACE: Interface[Route] = Interface(
    "Headwater look-ups",
    [
        Route("GET", "/stores", handlers.list_stores, "List the stores", "Stores", changes=True),
        Route(
            "GET",
            "/stores/{store}",
            handlers.get_store,
            "See how a store is",
            "Store",
            errors=(404,),
            changes=True,
        ),
        Route(
            "GET",
            "/stores/{store}/keys/{key}",
            handlers.get_key,
            "Look a key up",
            "Found",
            query=_BOUND,
            errors=_ERRORS,
            changes=True,
        ),
        Route(
            "GET",
            "/stores/{store}/entries",
            handlers.get_entries,
            "Go through keys in order",
            "Entries",
            query=(
                Parameter("from", "The first key.", "string"),
                Parameter("to", "The last key.", "string"),
                Parameter("prefix", "What keys begin with, instead of first and last.", "string"),
                *_PAGE,
                *_BOUND,
            ),
            errors=_ERRORS,
            changes=True,
        ),
        Route(
            "GET",
            "/stores/{store}/windows",
            handlers.get_windows,
            "Go through the windows of all keys",
            "WindowedEntries",
            query=(*_TIMES, *_PAGE, *_BOUND),
            errors=_ERRORS,
            changes=True,
        ),
        Route(
            "GET",
            "/stores/{store}/windows/{key}",
            handlers.get_windows,
            "Go through the windows of a key",
            "WindowedEntries",
            query=(*_TIMES, *_PAGE, *_BOUND),
            errors=_ERRORS,
            changes=True,
        ),
    ],
    description="Look-ups in the stores of a running program. A key that is no text is written as "
    "JSON, percent-encoded.",
    schemas={
        "Error": _object(error_code={"type": "integer"}, message=_TEXT),
        "Position": {
            "type": "object",
            "description": "By topic and partition, the offset before which everything was seen.",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {"type": "integer"},
            },
        },
        "Store": _object(
            name=_TEXT,
            topic=_TEXT,
            windowed={"type": "boolean"},
            ready={"type": "boolean"},
            trouble={"type": ["string", "null"]},
            position=_POSITION,
        ),
        "Stores": _array("Store"),
        "Found": _object(key={}, value={}, position=_POSITION),
        "Entry": _object(key={}, value={}),
        "Entries": _object(entries=_array("Entry"), more={"type": "boolean"}, position=_POSITION),
        "WindowedEntry": _object(key={}, window_start=_TIME, window_end=_TIME, value={}),
        "WindowedEntries": _object(
            entries=_array("WindowedEntry"), more={"type": "boolean"}, position=_POSITION
        ),
    },
    meanings={
        400: "A key, a time or a position cannot be read.",
        404: "There is no such store (40401) or no such key (40402).",
        503: "The store is loading (50301) or did not reach the position in time (50302).",
    },
)
