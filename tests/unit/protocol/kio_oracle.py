"""kio as the oracle: any message of any version, generated, written, read, and as a plain tree."""

from __future__ import annotations

import io
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin
from uuid import UUID

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from kio.index import load_request_schema, load_response_schema
from kio.schema.errors import ErrorCode
from kio.serial import entity_reader, entity_writer
from tests.effort import often

from headwater.protocol.api_keys import SERVED, ApiKey

FEW = settings(
    max_examples=often(8, in_soak=100),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""For properties that hold for each of a hundred versions."""

HOT = (
    ApiKey.PRODUCE,
    ApiKey.FETCH,
    ApiKey.LIST_OFFSETS,
    ApiKey.METADATA,
    ApiKey.API_VERSIONS,
)
COLD = tuple(key for key in SERVED if key not in HOT)


def versions(*keys: ApiKey) -> list[tuple[ApiKey, int]]:
    """Every served version of these APIs."""
    return [
        (key, version) for key in keys for version in range(SERVED[key].min, SERVED[key].max + 1)
    ]


@cache
def requests(key: ApiKey, version: int) -> st.SearchStrategy[Any]:
    """Any request of this version."""
    return _entities(load_request_schema(key, version))


@cache
def responses(key: ApiKey, version: int) -> st.SearchStrategy[Any]:
    """Any response of this version."""
    return _entities(load_response_schema(key, version))


def write(entity: Any) -> bytes:
    """The entity as kio writes it."""
    buffer = io.BytesIO()
    entity_writer(type(entity))(buffer, entity)
    return buffer.getvalue()


def read(schema: Any, data: bytes) -> Any:
    """The entity that kio reads, which must be all there is to read."""
    entity, size = entity_reader(schema)(data, 0)
    assert size == len(data)
    return entity


def plain(value: Any) -> Any:
    """An entity as a tree of dicts, lists and plain values."""
    if is_dataclass(value):
        tree = {field.name: plain(getattr(value, field.name)) for field in fields(value)}
        for field in fields(value):
            if field.metadata.get("kafka_type") == "uuid" and tree[field.name] is None:
                tree[field.name] = bytes(16)
        return tree
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    if isinstance(value, datetime):
        return round(value.timestamp() * 1000)
    if isinstance(value, UUID):
        return value.bytes
    if isinstance(value, Enum):
        return int(value.value)
    return value


def _integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


_TEXT = st.text(max_size=12)
_MILLISECONDS = st.integers(-(1 << 31), (1 << 31) - 1)
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "bool": st.booleans(),
    "int8": _integers(8),
    "int16": _integers(16),
    "int32": _integers(32),
    "int64": _integers(64),
    "uint16": st.integers(0, 0xFFFF),
    "float64": st.floats(allow_nan=False),
    "string": _TEXT,
    "bytes": st.binary(max_size=200),
    "records": st.binary(max_size=200),
    "error_code": st.sampled_from(ErrorCode),
    "timedelta_i32": _MILLISECONDS.map(lambda value: timedelta(milliseconds=value)),
    "timedelta_i64": _MILLISECONDS.map(lambda value: timedelta(milliseconds=value)),
    # kio keeps times to the second.
    "datetime_i64": st.integers(0, 1 << 31).map(lambda value: datetime.fromtimestamp(value, UTC)),
    # kio has None for the zero id.
    "uuid": st.integers(1, (1 << 128) - 1).map(lambda value: UUID(int=value)),
}


@cache
def _entities(schema: Any) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries({field.name: _values(field) for field in fields(schema)}).map(
        lambda values: schema(**values)
    )


def _values(field: Any) -> st.SearchStrategy[Any]:
    kind: Any = field.type
    is_nullable = get_origin(kind) in (Union, UnionType)
    if is_nullable:
        (kind,) = (option for option in get_args(kind) if option is not NoneType)
    is_array = get_origin(kind) is tuple
    if is_array:
        kind = get_args(kind)[0]
    values = (
        _entities(kind)
        if "kafka_type" not in field.metadata
        else _SCALARS[field.metadata["kafka_type"]]
    )
    if is_array:
        values = st.lists(values, max_size=3).map(tuple)
    if "tag" in field.metadata and field.default is not MISSING:
        values = st.just(field.default) | values
    elif is_nullable:
        values = st.none() | values
    return values
