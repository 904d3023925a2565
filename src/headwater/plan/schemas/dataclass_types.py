"""Types from Python's: dataclasses and annotations."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import types
import typing
from typing import Any

from headwater.plan.schemas.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTERVAL,
    STRING,
    TIMESTAMP,
    VOID,
    Array,
    DataType,
    Decimal,
    Field,
    Map,
    Struct,
    TypeTextError,
)

_PLAIN: dict[Any, DataType] = {
    bool: BOOLEAN,
    int: BIGINT,
    float: DOUBLE,
    str: STRING,
    bytes: BINARY,
    datetime.datetime: TIMESTAMP,
    datetime.date: DATE,
    datetime.timedelta: INTERVAL,
    decimal.Decimal: Decimal(38, 18),
    type(None): VOID,
}


def from_dataclass(class_: type) -> Struct:
    """Return a struct of a dataclass's fields."""
    if not dataclasses.is_dataclass(class_):
        raise TypeTextError(f"{class_.__name__} is no dataclass: decorate it with @dataclass")
    try:
        hints = typing.get_type_hints(class_)
    except NameError as error:
        raise TypeTextError(
            f"the annotations of {class_.__name__} use {error.name!r}, which is not there when the "
            "program runs: import it, and outside of TYPE_CHECKING"
        ) from error
    fields = []
    for field in dataclasses.fields(class_):
        try:
            fields.append(Field(field.name, from_annotation(hints[field.name])))
        except TypeTextError as error:
            raise TypeTextError(f"{class_.__name__}.{field.name}: {error}") from error
    return Struct(tuple(fields))


def from_annotation(annotation: Any) -> DataType:
    """Return the type of an annotation such as `int`, `list[str]` or `float | None`."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin = typing.get_origin(annotation)
    arguments = typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        rest = [argument for argument in arguments if argument is not type(None)]
        if len(rest) == 1:
            return from_annotation(rest[0])
    elif origin is typing.Annotated:
        return from_annotation(arguments[0])
    elif origin in (list, set, frozenset) or (origin is tuple and arguments[1:] == (...,)):
        return Array(from_annotation(arguments[0]))
    elif origin is dict:
        return Map(from_annotation(arguments[0]), from_annotation(arguments[1]))
    elif origin is typing.Literal:
        kinds = {type(argument) for argument in arguments}
        if len(kinds) == 1:
            return from_annotation(kinds.pop())
    elif isinstance(annotation, type):
        if dataclasses.is_dataclass(annotation):
            return from_dataclass(annotation)
        if issubclass(annotation, enum.Enum) and issubclass(annotation, str | int):
            return STRING if issubclass(annotation, str) else BIGINT
    raise TypeTextError(
        f"{_name(annotation)} has no type in Spark: use bool, int, float, str, bytes, "
        "datetime, date, timedelta, Decimal, list, dict, a dataclass, or one of these or None"
    )


def _name(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)
