"""Keys and values of a test's records as bytes, and back, in the formats without a registry."""

from __future__ import annotations

import json
import struct
from typing import Any


def encoded(kind: str, value: Any) -> bytes | None:
    """Return a value's bytes; None is a tombstone."""
    if value is None:
        return None
    match kind:
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
    return value if isinstance(value, bytes) else json.dumps(value, default=str).encode()


def decoded(kind: str, data: bytes | None) -> Any:
    """Return the value of bytes."""
    if data is None:
        return None
    data = bytes(data)
    match kind:
        case "string":
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
