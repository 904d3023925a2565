"""CAST and conversions that come by themselves, as ksqlDB makes them; what cannot be is null."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.formulas import field, formula, literal
from headwater.sql.types.plan_types import to_plan
from headwater.sql.types.sql_type import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    Array,
    Map,
    SqlType,
    Struct,
)

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression

_TO_TEXT: dict[SqlType, str] = {
    TIMESTAMP: "date_format({0}, 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSS')",
    DATE: "date_format({0}, 'yyyy-MM-dd')",
}


def cast(value: Expression, given: SqlType, wanted: SqlType) -> Expression:
    """Return a value as another type; null where it is none of that type."""
    if given == wanted:
        return value
    match given, wanted:
        case Array(one), Array(other):
            inner = cast(formula("_x", one), one, other)
            return formula("transform({0}, _x -> {1})", wanted, value, inner)
        case Map(key, item), Map(other_key, other_item):
            keys = cast(formula("_k", key), key, other_key)
            items = cast(formula("_v", item), item, other_item)
            made = "transform_values({0}, (_k, _v) -> {1})"
            return formula(f"transform_keys({made}, (_k, _v) -> {{2}})", wanted, value, items, keys)
        case Struct(), Struct():
            return _struct(value, given, wanted)
    if wanted == STRING:
        return _text(value, given)
    if (given, wanted) == (BIGINT, INTEGER):
        return formula(_LOW_BITS, INTEGER, value)
    if given == STRING and wanted == BOOLEAN:
        return formula(_BOOLEAN, BOOLEAN, value)
    if given == DOUBLE and wanted != STRING:
        # Spark refuses what is no number, also where it is told to try.
        guarded = formula("CASE WHEN NOT isnan({0}) THEN {0} END", DOUBLE, value)
        return formula(f"try_cast({{0}} AS {to_plan(wanted).ddl()})", wanted, guarded)
    return formula(f"try_cast({{0}} AS {to_plan(wanted).ddl()})", wanted, value)


_BOOLEAN = (
    "CASE WHEN {0} IS NULL THEN NULL "
    "WHEN length(trim({0})) > 0 AND (startswith('true', lower(trim({0}))) "
    "OR startswith('yes', lower(trim({0})))) THEN true ELSE false END"
)


# The lower half of a BIGINT, as Java makes an INTEGER of it.
_LOW_BITS = "CAST((({0} & 4294967295L) ^ 2147483648L) - 2147483648L AS int)"


def _text(value: Expression, given: SqlType) -> Expression:
    """Return a value as Java writes it."""
    match given:
        case Array(element):
            inner = _text(formula("_x", element), element)
            items = "transform({0}, _x -> coalesce({1}, 'null'))"
            return formula(f"concat('[', array_join({items}, ', '), ']')", STRING, value, inner)
        case Map(key, item):
            sides = _text(formula("_x.key", key), key), _text(formula("_x.value", item), item)
            entry = "concat(coalesce({1}, 'null'), '=', coalesce({2}, 'null'))"
            items = f"transform(map_entries({{0}}), _x -> {entry})"
            made = f"concat('{{{{', array_join({items}, ', '), '}}}}')"
            return formula(made, STRING, value, *sides)
        case Struct(fields):
            texts = []
            for name, type_ in fields:
                part = formula(f"({{0}}).{field(name)}", type_, value)
                texts.append(_text(part, type_))
            named = ", ".join(
                f"concat({literal(name + '=')}, coalesce({{{index}}}, 'null'))"
                for index, (name, _) in enumerate(fields, 1)
            )
            made = f"concat('Struct{{{{', concat_ws(',', {named}), '}}}}')"
            return formula(f"CASE WHEN {{0}} IS NOT NULL THEN {made} END", STRING, value, *texts)
        case _:
            return formula(_TO_TEXT.get(given, "try_cast({0} AS string)"), STRING, value)


def _struct(value: Expression, given: Struct, wanted: Struct) -> Expression:
    parts = []
    for name, type_ in wanted.fields:
        known = given.field(name)
        found = (
            formula("NULL", type_)
            if known is None
            else cast(formula(f"({{0}}).{field(name)}", known, value), known, type_)
        )
        parts.append((name, found))
    text = ", ".join(f"{literal(name)}, {{{index}}}" for index, (name, _) in enumerate(parts, 1))
    made = (part for _, part in parts)
    return formula(
        f"CASE WHEN {{0}} IS NOT NULL THEN named_struct({text}) END", wanted, value, *made
    )
