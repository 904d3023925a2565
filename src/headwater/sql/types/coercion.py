"""The one type of several expressions: of a list's items, of an array's elements, of a CASE.

The first that is not NULL says of which kind it is. A text that stands in the statement can be more
than a text of a column: `'10'` among numbers is a number.
"""

from __future__ import annotations

import datetime
import decimal
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.types.arithmetic import wider_number
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    INTEGER,
    NULL,
    STRING,
    TIMES,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
    is_number,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIME_TEXT = re.compile(r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?")
_DATE_TEXT = re.compile(r"\d{4}(-\d{2}(-\d{2}([T ]\S*)?)?)?")


@dataclass(frozen=True)
class Operand:
    """An expression's type; its text, if it is one in the statement; the parts it is made of.

    `parts` are the elements of ARRAY[...], the values of MAP(...), the fields of STRUCT(...).
    """

    type: SqlType
    text: str | None = None
    is_literal: bool = False
    parts: tuple[Operand, ...] = ()


def common_type(operands: Sequence[Operand]) -> SqlType:
    """Return the type that all operands have or become; NULL if all of them are NULL."""
    found: SqlType = NULL
    for operand in operands:
        found = _merged(found, operand)
    return found


def _merged(common: SqlType, operand: Operand) -> SqlType:
    given = operand.type
    if common == NULL:
        return given
    if given in (NULL, common) and not operand.parts:
        return common
    if common == STRING and operand.is_literal:
        return STRING
    if is_number(common) and is_number(given):
        return wider_number(common, given)
    if operand.text is not None:
        return _with_text(common, operand.text)
    match common, given:
        case Array(element), Array(other):
            parts = operand.parts or (Operand(other),)
            return Array(_folded(element, parts))
        case Map(key, value), Map(other_key, other_value):
            parts = operand.parts or (Operand(other_value),)
            return Map(_merged(key, Operand(other_key)), _folded(value, parts))
        case Struct(), Struct():
            return _merged_structs(common, given, operand.parts)
    if given == common:
        return common
    raise TypeMismatchError(f"{given} is not {common}, as those before it are: cast one of them")


def _folded(start: SqlType, parts: Sequence[Operand]) -> SqlType:
    found = start
    for part in parts:
        found = _merged(found, part)
    return found


def _merged_structs(common: Struct, given: Struct, parts: tuple[Operand, ...]) -> Struct:
    operands = parts or tuple(Operand(type_) for _, type_ in given.fields)
    merged = dict(common.fields)
    for name, operand in zip(given.names, operands, strict=True):
        merged[name] = _merged(merged.get(name, NULL), operand)
    return Struct(tuple(merged.items()))


def _with_text(common: SqlType, text: str) -> SqlType:
    if is_number(common):
        number = _number_type(text)
        if number is not None:
            return wider_number(common, number)
    elif (common == BOOLEAN and _is_boolean(text)) or (common in TIMES and says_time(text)):
        return common
    raise TypeMismatchError(f"'{text}' is no {common}, as those before it are")


def _number_type(text: str) -> SqlType | None:
    stripped = text.strip()
    try:
        number = decimal.Decimal(stripped)
    except decimal.InvalidOperation:
        return None
    if not number.is_finite():
        return None
    if not stripped.lstrip("+-").isdigit():
        return decimal_type(number)
    if -(2**31) <= number < 2**31:
        return INTEGER
    return BIGINT if -(2**63) <= number < 2**63 else Decimal(len(number.as_tuple().digits), 0)


def decimal_type(number: decimal.Decimal) -> Decimal:
    """Return the type with as many digits as the number is written with."""
    _, digits, exponent = number.as_tuple()
    scale = max(0, -int(exponent))
    return Decimal(max(len(digits) + max(0, int(exponent)), scale), scale)


def _is_boolean(text: str) -> bool:
    lower = text.strip().lower()
    return bool(lower) and any(word.startswith(lower) for word in ("true", "false", "yes", "no"))


def says_time(text: str) -> bool:
    """Tell whether a text is a date, a time or both, in ISO 8601."""
    if _TIME_TEXT.fullmatch(text):
        return True
    match = _DATE_TEXT.fullmatch(text)
    if match is None:
        return False
    if len(text) >= len("2024-01-01"):
        try:
            datetime.date.fromisoformat(text[:10])
        except ValueError:
            return False
    return True
