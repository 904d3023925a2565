"""What kio's schemas say about the messages of each API and version.

kio is imported when the first cold message comes along. Only its schemas
are used: its encoder is slow, and its decoder can be made to ask for so much memory by a request
of a few bytes that the whole process is aborted.
"""

from __future__ import annotations

from dataclasses import Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

from headwater.protocol.kio_schemas import (
    EntityType,
    api_key_map,
    load_request_schema,
    load_response_schema,
    schema_name_map,
)


class FieldShape(NamedTuple):
    """What a schema says about one field."""

    name: str
    kafka_type: str
    """Kafka's name of a scalar type, or kio's for those it has types of its own for."""
    type: Any
    """Of the field itself or, if it is an array, of its items."""
    is_array: bool
    is_nullable: bool
    tag: int | None
    default: Any
    """Perhaps `dataclasses.MISSING`."""

    @property
    def is_struct(self) -> bool:
        """Whether the field, or each of its items, has fields of its own."""
        return is_dataclass(self.type)

    @property
    def names(self) -> tuple[str, ...]:
        """What the field goes by: kio leaves the unit out of Kafka's names for times."""
        is_time = self.kafka_type.startswith(("timedelta", "datetime"))
        return (self.name, self.name + "_ms") if is_time else (self.name,)


@cache
def request_schema(api_key: int, version: int) -> Any:
    """kio's dataclass for the requests of this version."""
    return load_request_schema(api_key, version)


@cache
def response_schema(api_key: int, version: int) -> Any:
    """kio's dataclass for the responses of this version."""
    return load_response_schema(api_key, version)


@cache
def shapes(schema: Any) -> tuple[FieldShape, ...]:
    """The fields of a message, or of a structure in one, in their order on the wire."""
    return tuple(map(_shape, fields(schema)))


@cache
def is_known(message: Any, path: tuple[str, ...], name: str) -> bool:
    """Whether any version of this message has a field of this name at this place."""
    api_key = int(message.__api_key__)
    is_request = message.__type__ is EntityType.request
    schema_of = request_schema if is_request else response_schema
    for version in schema_name_map[api_key_map[api_key]]:
        schema = schema_of(api_key, version)
        for step in path:
            schema = next((shape.type for shape in shapes(schema) if shape.name == step), None)
            if schema is None:
                break
        else:
            if any(name in shape.names for shape in shapes(schema)):
                return True
    return False


def _shape(field: Field[Any]) -> FieldShape:
    kind: Any = field.type
    is_nullable = get_origin(kind) in (Union, UnionType)
    if is_nullable:
        (kind,) = (option for option in get_args(kind) if option is not NoneType)
    is_array = get_origin(kind) is tuple
    if is_array:
        kind = get_args(kind)[0]
    kafka_type = str(field.metadata.get("kafka_type", ""))
    tag = field.metadata.get("tag")
    return FieldShape(field.name, kafka_type, kind, is_array, is_nullable, tag, field.default)
