"""Times in topics: ksqlDB's formats write them as numbers, where plans have types for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.formulas import field, formula, literal
from headwater.sql.types.sql_type import (
    BIGINT,
    DATE,
    INTEGER,
    TIME,
    TIMES,
    TIMESTAMP,
    Array,
    Map,
    SqlType,
    Struct,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.plan.expressions import Expression

_NUMBERS: dict[SqlType, SqlType] = {TIMESTAMP: BIGINT, DATE: INTEGER, TIME: INTEGER}
_READ: dict[SqlType, str] = {
    TIMESTAMP: "timestamp_millis({0})",
    DATE: "date_from_unix_date({0})",
    TIME: "time_from_millis({0})",
}
_WRITTEN: dict[SqlType, str] = {
    TIMESTAMP: "unix_millis({0})",
    DATE: "unix_date({0})",
    TIME: "CAST(time_to_millis({0}) AS int)",
}


def has_times(type_: SqlType) -> bool:
    """Tell whether there are dates or times in a type."""
    match type_:
        case Array(element):
            return has_times(element)
        case Map(key, value):
            return has_times(key) or has_times(value)
        case Struct(fields):
            return any(has_times(part) for _, part in fields)
        case _:
            return type_ in TIMES


def wire_type(type_: SqlType) -> SqlType:
    """Return the type that a topic has for it: milliseconds for times, days for dates."""
    match type_:
        case Array(element):
            return Array(wire_type(element))
        case Map(key, value):
            return Map(wire_type(key), wire_type(value))
        case Struct(fields):
            return Struct(tuple((name, wire_type(part)) for name, part in fields))
        case _:
            return _NUMBERS.get(type_, type_)


def from_wire(value: Expression, type_: SqlType) -> Expression:
    """Return what was read of a topic as the type of the language."""
    return _converted(value, wire_type(type_), type_, type_, _READ)


def to_wire(value: Expression, type_: SqlType) -> Expression:
    """Return a value of the language as the topic has it."""
    return _converted(value, type_, wire_type(type_), type_, _WRITTEN)


def _converted(
    value: Expression,
    given: SqlType,
    wanted: SqlType,
    type_: SqlType,
    formulas: Mapping[SqlType, str],
) -> Expression:
    if not has_times(type_):
        return value
    match given, wanted, type_:
        case Array(one), Array(other), Array(element):
            inner = _converted(formula("_x", one), one, other, element, formulas)
            return formula("transform({0}, _x -> {1})", wanted, value, inner)
        case Map(_, one), Map(_, other), Map(_, item):
            inner = _converted(formula("_v", one), one, other, item, formulas)
            return formula("transform_values({0}, (_k, _v) -> {1})", wanted, value, inner)
        case Struct(), Struct(), Struct(fields):
            return _struct(value, given, wanted, fields, formulas)
        case _:
            return formula(formulas[type_], wanted, value)


def _struct(
    value: Expression,
    given: Struct,
    wanted: Struct,
    fields: tuple[tuple[str, SqlType], ...],
    formulas: Mapping[SqlType, str],
) -> Expression:
    parts = []
    for name, part in fields:
        one, other = given.field(name), wanted.field(name)
        assert one is not None
        assert other is not None
        inner = formula(f"({{0}}).{field(name)}", one, value)
        parts.append(_converted(inner, one, other, part, formulas))
    text = ", ".join(f"{literal(name)}, {{{i}}}" for i, (name, _) in enumerate(fields, 1))
    made = f"CASE WHEN {{0}} IS NOT NULL THEN named_struct({text}) END"
    return formula(made, wanted, value, *parts)
