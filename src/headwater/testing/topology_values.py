"""Keys and values of a test's records as bytes, and back, in the formats without a registry."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.plan.formats import Format


def encoded(format_: Format, value: Any) -> bytes | None:
    """Return a value's bytes; None is a tombstone."""
    if value is None:
        return None
    if format_.window is not None:
        key = encoded(replace(format_, window=None), value["key"]) or b""
        bounds = [value["window_start"]]
        if format_.window == "session":
            bounds.insert(0, value["window_end"])
        return key + struct.pack(f">{len(bounds)}q", *bounds)
    match format_.kind:
        case "string":
            return str(value).encode()
        case "bytes":
            return bytes(value)
        case "int":
            return struct.pack(">i", value)
        case "long":
            return struct.pack(">q", value)
        case "double":
            return struct.pack(">d", value)
        case "delimited" if isinstance(value, str):
            return value.encode()
    return value if isinstance(value, bytes) else json.dumps(value, default=str).encode()


def decoded(format_: Format, data: bytes | None) -> Any:
    """Return the value of bytes."""
    if data is None:
        return None
    data = bytes(data)
    if format_.window is not None:
        size = 16 if format_.window == "session" else 8
        *end, start = struct.unpack(f">{size // 8}q", data[-size:])
        key = decoded(replace(format_, window=None), data[:-size])
        return {"key": key, "window_start": start} | ({"window_end": end[0]} if end else {})
    match format_.kind:
        case "string" | "delimited":
            return data.decode()
        case "bytes":
            return data
        case "int":
            return struct.unpack(">i", data)[0]
        case "long":
            return struct.unpack(">q", data)[0]
        case "double":
            return struct.unpack(">d", data)[0]
    try:
        return json.loads(data)
    except ValueError:
        return data  # a dead letter is what could not be read
