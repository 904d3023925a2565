"""What rows and topics have for times and decimals, where they have no types of their own for them.

Spark's state cannot hold a time of the day, so that in all rows between operators it is a number.
In topics, JSON and its like write times as numbers. Protobuf has messages for them, those of
Confluent's converter, which are structs to a plan: `google.type.Date`, `google.type.TimeOfDay`,
`google.protobuf.Timestamp` and `confluent.type.Decimal`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from headwater.sql.planning.formulas import field, formula, literal
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import (
    BIGINT,
    BYTES,
    INTEGER,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
    kind,
)

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression
    from headwater.plan.schemas.types import DataType


@dataclass(frozen=True)
class WireForm:
    """What stands for a type in a topic, and the formulas to read and to write it."""

    type: SqlType
    read: str
    written: str


WireForms: TypeAlias = Mapping[str, Callable[[SqlType], WireForm]]
"""The forms of a format, by the kinds of types that it has none for."""


def _number(type_: SqlType, read: str, written: str) -> Callable[[SqlType], WireForm]:
    return lambda _: WireForm(type_, read, written)


def _message(read: str, **parts: tuple[SqlType, str]) -> WireForm:
    fields = ", ".join(f"'{name}', {made}" for name, (_, made) in parts.items())
    type_ = Struct(tuple((name, type_) for name, (type_, _) in parts.items()))
    return WireForm(type_, read, f"CASE WHEN {{0}} IS NOT NULL THEN named_struct({fields}) END")


_DATE = _message(
    # What is no date, such as the 30th of February, is null.
    "try_cast(concat_ws('-', lpad(({0}).year, 4, '0'), ({0}).month, ({0}).day) AS date)",
    year=(INTEGER, "year({0})"),
    month=(INTEGER, "month({0})"),
    day=(INTEGER, "day({0})"),
)
_OF_DAY = "(({0}).hours * 3600000L + ({0}).minutes * 60000L + ({0}).seconds * 1000L"
_OF_DAY = f"{_OF_DAY} + ({{0}}).nanos div 1000000)"
_TIME = _message(
    f"CASE WHEN {_OF_DAY} BETWEEN 0 AND 86399999 THEN CAST({_OF_DAY} AS int) END",
    hours=(INTEGER, "CAST({0} div 3600000 AS int)"),
    minutes=(INTEGER, "CAST({0} div 60000 % 60 AS int)"),
    seconds=(INTEGER, "CAST({0} div 1000 % 60 AS int)"),
    nanos=(INTEGER, "CAST({0} % 1000 * 1000000 AS int)"),
)
_TIMESTAMP = _message(
    "timestamp_millis(({0}).seconds * 1000 + ({0}).nanos div 1000000)",
    seconds=(BIGINT, "unix_seconds({0})"),
    nanos=(INTEGER, "CAST(pmod(unix_millis({0}), 1000) * 1000000 AS int)"),
)


def _decimal(type_: SqlType) -> WireForm:
    assert isinstance(type_, Decimal)
    wanted = f"decimal({type_.precision}, {type_.scale})"
    return _message(
        f"try_cast(hw_decimal(({{0}}).value, ({{0}}).scale) AS {wanted})",
        value=(BYTES, "hw_decimal_bytes(CAST({0} AS string))"),
        precision=(BIGINT, f"{type_.precision}L"),
        scale=(INTEGER, str(type_.scale)),
    )


_TIME_NUMBER = _number(INTEGER, "time_from_millis({0})", "CAST(time_to_millis({0}) AS int)")
_NUMBERS: WireForms = {
    "TIMESTAMP": _number(BIGINT, "timestamp_millis({0})", "unix_millis({0})"),
    "DATE": _number(INTEGER, "date_from_unix_date({0})", "unix_date({0})"),
    "TIME": _TIME_NUMBER,
}
_MESSAGES: WireForms = {
    "DATE": lambda _: _DATE,
    "TIME": lambda _: _TIME,
    "DECIMAL": _decimal,
}
_NOTHING: WireForms = {}
_FORMS: Mapping[str, WireForms] = {
    "AVRO": {"TIME": _TIME_NUMBER},
    "JSON": _NUMBERS,
    "JSON_SR": _NUMBERS,
    "DELIMITED": _NUMBERS,
    # Spark reads and writes the timestamps of a schema by itself.
    "PROTOBUF": _MESSAGES,
    "PROTOBUF_NOSR": {**_MESSAGES, "TIMESTAMP": lambda _: _TIMESTAMP},
}
IN_ROWS: WireForms = {"TIME": _TIME_NUMBER}
"""What stands for times of the day between operators."""
IN_AGGREGATES: WireForms = _NUMBERS
"""What stands for times that are folded together with times of the day."""


def forms_of(format_: str) -> WireForms:
    """Return what stands in topics of a format for what it has no types for."""
    return _FORMS.get(format_, _NOTHING)


def wire_type(type_: SqlType, forms: WireForms) -> SqlType:
    """Return the type that a topic has for it."""
    match type_:
        case Array(element):
            return Array(wire_type(element, forms))
        case Map(key, value):
            return Map(wire_type(key, forms), wire_type(value, forms))
        case Struct(fields):
            return Struct(tuple((name, wire_type(part, forms)) for name, part in fields))
        case _:
            form = forms.get(kind(type_))
            return type_ if form is None else form(type_).type


def from_wire(value: Expression, type_: SqlType, forms: WireForms) -> Expression:
    """Return what was read of a topic as rows have it."""
    given, wanted = wire_type(type_, forms), wire_type(type_, IN_ROWS)
    return _converted(value, given, wanted, type_, _Way(forms, is_read=True))


def to_wire(value: Expression, type_: SqlType, forms: WireForms) -> Expression:
    """Return a value of a row as the topic has it."""
    given, wanted = wire_type(type_, IN_ROWS), wire_type(type_, forms)
    return _converted(value, given, wanted, type_, _Way(forms, is_read=False))


def typed(value: Expression, type_: SqlType, forms: WireForms = IN_ROWS) -> Expression:
    """Return a value of a row as the type of the language."""
    return _converted(value, wire_type(type_, forms), type_, type_, _Way(forms, is_read=True))


def kept(value: Expression, type_: SqlType, forms: WireForms = IN_ROWS) -> Expression:
    """Return a value of the language as rows have it."""
    return _converted(value, type_, wire_type(type_, forms), type_, _Way(forms, is_read=False))


def kept_type(type_: SqlType) -> DataType:
    """Return the type that rows have for it."""
    return to_plan(wire_type(type_, IN_ROWS))


@dataclass(frozen=True)
class _Way:
    forms: WireForms
    is_read: bool

    def formula(self, type_: SqlType) -> str:
        form = self.forms[kind(type_)](type_)
        return form.read if self.is_read else form.written


def _converted(
    value: Expression,
    given: SqlType,
    wanted: SqlType,
    type_: SqlType,
    way: _Way,
) -> Expression:
    if given == wanted:
        return value
    match given, wanted, type_:
        case Array(one), Array(other), Array(element):
            inner = _converted(formula("_x", one), one, other, element, way)
            return formula("transform({0}, _x -> {1})", wanted, value, inner)
        case Map(_, one), Map(_, other), Map(_, item):
            inner = _converted(formula("_v", one), one, other, item, way)
            return formula("transform_values({0}, (_k, _v) -> {1})", wanted, value, inner)
        case Struct(), Struct(), Struct(fields):
            return _struct(value, given, wanted, fields, way)
        case _:
            return formula(way.formula(type_), wanted, value)


def _struct(
    value: Expression,
    given: Struct,
    wanted: Struct,
    fields: tuple[tuple[str, SqlType], ...],
    way: _Way,
) -> Expression:
    parts = []
    for name, part in fields:
        one, other = given.field(name), wanted.field(name)
        assert one is not None
        assert other is not None
        inner = formula(f"({{0}}).{field(name)}", one, value)
        parts.append(_converted(inner, one, other, part, way))
    text = ", ".join(f"{literal(name)}, {{{i}}}" for i, (name, _) in enumerate(fields, 1))
    made = f"CASE WHEN {{0}} IS NOT NULL THEN named_struct({text}) END"
    return formula(made, wanted, value, *parts)
