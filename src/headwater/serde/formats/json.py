"""JSON without a schema: compact, UTF-8, and only what JSON knows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from headwater.serde.serializer import Deserializer, Serializer

if TYPE_CHECKING:
    from collections.abc import Callable

    from headwater.serde.context import Context

# NaN and the infinities are refused: no JSON parser but Python's would read them again.
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode


class JsonSerializer(Serializer[Any]):
    """Writes whatever JSON can express.

    >>> JsonSerializer()({"sensor": "boiler-1", "value": 812})
    b'{"sensor":"boiler-1","value":812}'
    """

    def _encoder(self, context: Context) -> Callable[[Any], bytes]:
        return encode_json


class JsonDeserializer(Deserializer[Any]):
    """Reads JSON."""

    def _decode(self, data: bytes, context: Context) -> Any:
        return decode_json(data)


def encode_json(value: Any) -> bytes:
    """Return compact JSON, byte for byte what confluent-kafka's serialiser writes."""
    return _encode(value).encode()


def decode_json(data: bytes) -> Any:
    """Parse JSON; raises ValueError where it is none."""
    try:
        return json.loads(data)
    except UnicodeDecodeError as failure:
        raise ValueError(f"it is not JSON: not UTF-8 at byte {failure.start}") from None
    except ValueError as failure:
        raise ValueError(f"it is not JSON: {failure}") from None
