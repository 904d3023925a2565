"""Texts and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.planning.functions.function_call import (
    FormulaMaker,
    FunctionCall,
    by_count,
    named,
    text,
)
from headwater.sql.types.sql_type import STRING

if TYPE_CHECKING:
    from headwater.plan.expressions import Expression


def _concat(call: FunctionCall) -> Expression:
    """Return texts one after the other, of which nulls are nothing."""
    nothing = "''" if call.result == STRING else "X''"
    parts = (f"coalesce({{{index}}}, {nothing})" for index in range(len(call.arguments)))
    return call.formula(f"concat({', '.join(parts)})")


def _concat_ws(call: FunctionCall) -> Expression:
    if call.result == STRING:
        return named("concat_ws")(call)
    raise SqlError("CONCAT_WS of BYTES cannot be computed yet")


def _padded(function: str) -> FormulaMaker:
    def make(call: FunctionCall) -> Expression:
        # ksqlDB pads with something and to a length, or not at all.
        condition = "{1} >= 0 AND length({2}) > 0"
        return call.formula(f"CASE WHEN {condition} THEN {function}({{0}}, {{1}}, {{2}}) END")

    return make


_SUBSTRING = (
    "CASE WHEN {1} > 0 THEN substring({0}, {1}) ELSE "
    "substring({0}, greatest(length({0}) + {1} + 1, 1)) END",
    "CASE WHEN {1} > 0 THEN substring({0}, {1}, greatest({2}, 0)) ELSE "
    "substring({0}, greatest(length({0}) + {1} + 1, 1), greatest({2}, 0)) END",
)

FORMULAS: dict[str, FormulaMaker] = {
    "CONCAT": _concat,
    "CONCAT_WS": _concat_ws,
    "INITCAP": text("array_join(transform(split({0}, ' '), _x -> initcap(_x)), ' ')"),
    "LCASE": named("lower"),
    "LEN": named("length"),
    "LPAD": _padded("lpad"),
    "MD5": named("md5"),
    "REPLACE": text("CASE WHEN {1} = '' THEN {0} ELSE replace({0}, {1}, {2}) END"),
    "RPAD": _padded("rpad"),
    "SUBSTRING": by_count(*_SUBSTRING),
    "TRIM": named("trim"),
    "UCASE": named("upper"),
    "UUID": text("uuid()"),
}
