"""Values in a form that Spark can compare: it has no order, and no equality, of maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.formulas import field, formula, literal
from headwater.sql.types.sql_type import BOOLEAN, Array, Map, SqlType, Struct

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression


def has_map(type_: SqlType) -> bool:
    """Tell whether there is a map in a type."""
    match type_:
        case Map():
            return True
        case Array(element):
            return has_map(element)
        case Struct(fields):
            return any(has_map(part) for _, part in fields)
        case _:
            return False


def comparable(value: Expression, type_: SqlType) -> Expression:
    """Return a value with its maps as their entries in order; anything else stays as it is."""
    if not has_map(type_):
        return value
    match type_:
        case Map(_, item):
            # What stands for the type is not looked at: it is not that of the language.
            inner = comparable(formula("_e.value", item), item)
            entry = "named_struct('k', _e.key, 'v', {1})"
            entries = f"transform(map_entries({{0}}), _e -> {entry})"
            order = "(_l, _r) -> CASE WHEN _l.k < _r.k THEN -1 WHEN _l.k > _r.k THEN 1 ELSE 0 END"
            return formula(f"array_sort({entries}, {order})", BOOLEAN, value, inner)
        case Array(element):
            inner = comparable(formula("_x", element), element)
            return formula("transform({0}, _x -> {1})", BOOLEAN, value, inner)
        case Struct(fields):
            parts = [
                comparable(formula(f"({{0}}).{field(name)}", part, value), part)
                for name, part in fields
            ]
            text = ", ".join(f"{literal(name)}, {{{i}}}" for i, (name, _) in enumerate(fields, 1))
            made = f"CASE WHEN {{0}} IS NOT NULL THEN named_struct({text}) END"
            return formula(made, BOOLEAN, value, *parts)
    return value
