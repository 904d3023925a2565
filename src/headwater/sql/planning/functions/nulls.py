"""Nulls."""

from __future__ import annotations

from headwater.sql.planning.functions.function_call import FormulaMaker, named, text

FORMULAS: dict[str, FormulaMaker] = {
    "COALESCE": named("coalesce"),
    "IFNULL": text("coalesce({0}, {1})"),
    "NULLIF": text("nullif({0}, {1})"),
}
