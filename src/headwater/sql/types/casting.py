"""CAST: which type can be made of which, and which needs no CAST."""

from __future__ import annotations

from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INTEGER,
    NULL,
    STRING,
    TIME,
    TIMES,
    TIMESTAMP,
    Array,
    Decimal,
    Map,
    SqlType,
    Struct,
    as_decimal,
    is_number,
)


def can_cast(source: SqlType, target: SqlType) -> bool:
    """Tell whether CAST makes a `target` of a `source`."""
    if source in (target, NULL):
        return True
    if target == STRING:
        return source != BYTES
    if source == STRING:
        return target == BOOLEAN or target in TIMES or is_number(target)
    if is_number(source) and is_number(target):
        return True
    match source, target:
        case Array(one), Array(other):
            return can_cast(one, other)
        case Map(key, value), Map(other_key, other_value):
            return can_cast(key, other_key) and can_cast(value, other_value)
        case Struct(), Struct(fields):
            found = ((source.field(name), type_) for name, type_ in fields)
            return all(part is None or can_cast(part, type_) for part, type_ in found)
    return (source == TIMESTAMP and target in (TIME, DATE)) or (
        source == DATE and target == TIMESTAMP
    )


def can_coerce(source: SqlType, target: SqlType) -> bool:
    """Tell whether a `source` becomes a `target` by itself, since nothing can be lost."""
    if source in (target, NULL):
        return True
    match source, target:
        case (_, _) if target == BIGINT:
            return source == INTEGER
        case (_, _) if target == DOUBLE:
            return is_number(source)
        case _, Decimal(precision, scale):
            if source not in (INTEGER, BIGINT) and not isinstance(source, Decimal):
                return False
            given = as_decimal(source)
            return given.scale <= scale and given.precision - given.scale <= precision - scale
        case Array(one), Array(other):
            return can_coerce(one, other)
        case Map(key, value), Map(other_key, other_value):
            return can_coerce(key, other_key) and can_coerce(value, other_value)
        case Struct(), Struct(fields):
            found = ((source.field(name), type_) for name, type_ in fields)
            return all(part is None or can_coerce(part, type_) for part, type_ in found)
    return False


def can_insert(source: SqlType, target: SqlType) -> bool:
    """Tell whether INSERT ... VALUES may write a `source` into a `target`, if its value fits."""
    if source in (target, NULL):
        return True
    match source, target:
        case (_, Decimal()) if source in (INTEGER, BIGINT) or isinstance(source, Decimal):
            return True
        case (_, _) if source == STRING:
            return target in (*TIMES, BYTES)
        case Array(one), Array(other):
            return can_insert(one, other)
        case Map(key, value), Map(other_key, other_value):
            return can_insert(key, other_key) and can_insert(value, other_value)
        case Struct(), Struct(fields):
            found = ((source.field(name), type_) for name, type_ in fields)
            return all(part is None or can_insert(part, type_) for part, type_ in found)
    return can_coerce(source, target)
