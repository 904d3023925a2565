"""The cold APIs, all versions, through kio's schemas, which are imported when one is first needed.

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

from headwater.protocol.primitives import ProtocolError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.protocol.api_keys import ApiKey

MAX_BODY = 8 * 1024 * 1024
"""The most that a cold request may have, in bytes, since each of them may become an object."""

_MISSING = object()


def decode_request(
    api_key: ApiKey, version: int, view: memoryview, position: int = 0, *, max_size: int = MAX_BODY
) -> Any:
    """Read the body of a request into kio's entity of that version.

    `field` reads what the entity has under the same name in all versions.
    """
    return _decode(_request_schema(api_key, version), view, position, max_size)


def encode_response(api_key: ApiKey, version: int, tree: Mapping[str, Any]) -> bytes:
    """Write the body of a response."""
    return _encode(_response_schema(api_key, version), tree)


def encode_request(api_key: ApiKey, version: int, tree: Mapping[str, Any]) -> bytes:
    """Write the body of a request, as a client does."""
    return _encode(_request_schema(api_key, version), tree)


def decode_response(
    api_key: ApiKey, version: int, view: memoryview, position: int = 0, *, max_size: int = MAX_BODY
) -> Any:
    """Read the body of a response, as a client does."""
    return _decode(_response_schema(api_key, version), view, position, max_size)


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
    from headwater.protocol import tree_encoder  # noqa: F401


@cache
def _request_schema(api_key: ApiKey, version: int) -> Any:
    from kio.index import load_request_schema

    return load_request_schema(api_key, version)


@cache
def _response_schema(api_key: ApiKey, version: int) -> Any:
    from kio.index import load_response_schema

    return load_response_schema(api_key, version)


def _encode(schema: Any, tree: Mapping[str, Any]) -> bytes:
    from headwater.protocol.tree_encoder import tree_encoder

    return tree_encoder(schema)(tree)


def _decode(schema: Any, view: memoryview, position: int, max_size: int) -> Any:
    from kio.serial import entity_reader
    from kio.serial.errors import SerialError

    what = f"{schema.__name__} v{schema.__version__}"
    if len(view) - position > max_size:
        raise ProtocolError(f"{what}: {len(view) - position} bytes, but {max_size} are allowed")
    try:
        entity, _ = entity_reader(schema)(view.toreadonly(), position)
    except (SerialError, ValueError, OverflowError) as error:
        raise ProtocolError(f"{what}: {error}") from error
    null_check = _null_check(schema)
    if null_check is not None:
        null_check(entity, schema.__name__)
    return entity


@cache
def _null_check(schema: Any) -> Callable[[Any, str], None] | None:
    """Compile what kio leaves out: a search for null in arrays that may not be null."""
    from dataclasses import fields

    from headwater.protocol.tree_encoder import shape_of

    checks = []
    for shape in map(shape_of, fields(schema)):
        nested = _null_check(shape.type) if shape.is_struct else None
        if shape.is_array or nested is not None:
            checks.append((shape, nested))
    if not checks:
        return None

    def check(entity: Any, where: str) -> None:
        for shape, nested in checks:
            value = getattr(entity, shape.name)
            if value is None:
                if not shape.is_nullable:
                    raise ProtocolError(f"{where}.{shape.name}: it is null and may not be")
            elif nested is not None:
                for item in value if shape.is_array else (value,):
                    nested(item, f"{where}.{shape.name}")

    return check


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
