"""The cold APIs, all versions, by their schemas, which are imported when one is first needed.

A response is a tree under kio's field names (Kafka's in snake case), made of plain values: ints for
error codes and milliseconds, 16 raw bytes or a `UUID` for ids. One tree does for all versions:

    encode_response(
        ApiKey.CREATE_TOPICS,
        header.api_version,
        {"throttle_time_ms": 0, "topics": [{"name": "orders", "error_code": ErrorCode.NONE}]},
    )

A field that this version lacks is dropped, and one that the tree lacks gets the schema's default:
null for a string or structure that may be null, else empty or zero.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from headwater.protocol.primitives import MAX_ITEMS, MAX_ITEMS_ANSWERED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.protocol.api_keys import ApiKey

_MISSING = object()


def decode_request(api_key: ApiKey, version: int, view: memoryview, position: int = 0) -> Any:
    """Read the body of a request into kio's entity of that version.

    `field` reads what the entity has under the same name in all versions.
    """
    return _request_decoder(api_key, version)(view, position, MAX_ITEMS)


def encode_response(api_key: ApiKey, version: int, tree: Mapping[str, Any]) -> bytes:
    """Write the body of a response."""
    return _response_encoder(api_key, version)(tree)


def encode_request(api_key: ApiKey, version: int, tree: Mapping[str, Any]) -> bytes:
    """Write the body of a request, as a client does."""
    from headwater.protocol.schema_encoder import encoder
    from headwater.protocol.schemas import request_schema

    return encoder(request_schema(api_key, version))(tree)


def decode_response(api_key: ApiKey, version: int, view: memoryview, position: int = 0) -> Any:
    """Read the body of a response into kio's entity of that version, as a client does."""
    from headwater.protocol.schema_decoder import decoder
    from headwater.protocol.schemas import response_schema

    return decoder(response_schema(api_key, version))(view, position, MAX_ITEMS_ANSWERED)


def field(entity: Any, name: str, default: Any = None) -> Any:
    """Read a field that an older version may lack, as a plain value.

    Durations come in milliseconds (also under Kafka's name, as `timeout_ms`), times in epoch
    milliseconds and ids as 16 raw bytes, or None for the zero id.
    """
    value = getattr(entity, name, _MISSING)
    if value is _MISSING and name.endswith("_ms"):
        value = getattr(entity, name[:-3], _MISSING)
    if value is _MISSING:
        return default
    kind: Any = type(value)
    return _plain(kind)(value)


def preload() -> None:
    """Import kio now, say from a thread of a broker that is up, and not in the first request."""
    from headwater.protocol import schema_decoder, schema_encoder  # noqa: F401


# Found once for each version: an import statement costs every request that comes to it.


@cache
def _request_decoder(api_key: ApiKey, version: int) -> Callable[[memoryview, int, int], Any]:
    from headwater.protocol.schema_decoder import decoder
    from headwater.protocol.schemas import request_schema

    return decoder(request_schema(api_key, version))


@cache
def _response_encoder(api_key: ApiKey, version: int) -> Callable[[Mapping[str, Any]], bytes]:
    from headwater.protocol.schema_encoder import encoder
    from headwater.protocol.schemas import response_schema

    return encoder(response_schema(api_key, version))


@cache
def _plain(kind: Any) -> Callable[[Any], Any]:
    from datetime import datetime, timedelta
    from uuid import UUID

    if issubclass(kind, timedelta):
        return lambda value: value // timedelta(milliseconds=1)
    if issubclass(kind, datetime):
        return lambda value: round(value.timestamp() * 1000)
    if issubclass(kind, UUID):
        return lambda value: value.bytes
    return lambda value: value
