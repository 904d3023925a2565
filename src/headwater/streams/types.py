"""The types that users declare: DDL text, a dataclass, a Python type, or the real thing."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

from headwater.plan.schemas.dataclass_types import from_annotation
from headwater.plan.schemas.ddl import parse_ddl
from headwater.plan.schemas.types import Array, DataType, Decimal, Map, Primitive, Struct

TypeLike: TypeAlias = "str | type | DataType | Any"
"""`"id string, value double"`, a dataclass, `int` or `list[str]`."""


def as_type(given: TypeLike) -> DataType:
    """Return the type; refuse what is none."""
    if isinstance(given, Primitive | Decimal | Array | Map | Struct):
        return given
    return parse_ddl(given) if isinstance(given, str) else from_annotation(given)


def as_class(given: TypeLike | None) -> type | None:
    """Return the dataclass if the type was declared by one."""
    return given if isinstance(given, type) and dataclasses.is_dataclass(given) else None
