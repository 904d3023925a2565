"""Texts and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.functions.function_call import (
    FormulaMaker,
    FunctionCall,
    by_count,
    named,
    text,
)
from headwater.sql.types.sql_type import INTEGER, STRING

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression


def _concat(call: FunctionCall) -> Expression:
    """Return texts one after the other, of which nulls are nothing."""
    nothing = "''" if call.result == STRING else "X''"
    parts = (f"coalesce({{{index}}}, {nothing})" for index in range(len(call.arguments)))
    return call.formula(f"concat({', '.join(parts)})")


def _concat_ws(call: FunctionCall) -> Expression:
    if call.result == STRING:
        return named("concat_ws")(call)
    values = ", ".join(f"{{{index}}}" for index in range(1, len(call.arguments)))
    there = f"filter(array({values}), _x -> _x IS NOT NULL)"
    step = "(_a, _x) -> if(_a IS NULL, _x, concat(_a, {0}, _x))"
    joined = f"coalesce(reduce({there}, CAST(NULL AS binary), {step}), X'')"
    return call.formula(f"if({{0}} IS NULL, NULL, {joined})")


def _instr(call: FunctionCall) -> Expression:
    position = "{2}" if len(call.arguments) > 2 else "1"
    occurrence = "{3}" if len(call.arguments) > 3 else "1"
    return call.formula(f"hw_instr({{0}}, {{1}}, {position}, {occurrence})")


def _chr(call: FunctionCall) -> Expression:
    return call.formula("hw_unescape({0})" if call.types[0] == STRING else "hw_chr({0})")


def _uuid(call: FunctionCall) -> Expression:
    return call.formula("hw_uuid({0})" if call.arguments else "uuid()")


def _split(call: FunctionCall) -> Expression:
    if call.types[0] != STRING:
        return call.formula("hw_split_bytes({0}, {1})")
    return call.formula(f"split({{0}}, {_quoted('{1}')})")


def _quoted(text: str) -> str:
    """Return a text as a pattern that it alone matches."""
    escaped = f"replace({text}, '\\\\E', '\\\\E\\\\\\\\E\\\\Q')"
    return f"if({text} = '', '', concat('\\\\Q', {escaped}, '\\\\E'))"


def _split_to_map(call: FunctionCall) -> Expression:
    entries = f"filter(split({{0}}, {_quoted('{1}')}), _e -> contains(_e, {{2}}))"
    parts = f"split(_e, {_quoted('{2}')})"
    key, value = f"{parts}[0]", f"{parts}[1]"
    others = f"map_filter(_m, (_k, _v) -> _k <> {key})"
    step = f"(_m, _e) -> map_concat({others}, map({key}, {value}))"
    none = "CAST(map() AS map<string, string>)"
    return call.formula(f"reduce({entries}, {none}, {step})")


def _mask(masked: str, before: str = "''", after: str = "''") -> FormulaMaker:
    """Return a text of which a part is masked, and what stands before and after it is not."""

    def make(call: FunctionCall) -> Expression:
        first = 2 if len(call.types) > 1 and call.types[1] == INTEGER else 1
        given = [f"{{{index}}}" for index in range(first, len(call.arguments))]
        letters = ", ".join(given or ("'X'", "'x'", "'n'", "'-'"))
        return call.formula(f"concat({before}, mask({masked}, {letters}), {after})")

    return make


def _extract(function: str) -> FormulaMaker:
    def make(call: FunctionCall) -> Expression:
        group = "{2}" if len(call.arguments) > 2 else "0"
        return call.formula(f"{function}({{1}}, {{0}}, {group})")

    return make


def _padded(function: str) -> FormulaMaker:
    def make(call: FunctionCall) -> Expression:
        # ksqlDB pads with something and to a length, or not at all.
        condition = "{1} >= 0 AND length({2}) > 0"
        return call.formula(f"CASE WHEN {condition} THEN {function}({{0}}, {{1}}, {{2}}) END")

    return make


_SUBSTRING = (
    # greatest leaves nulls out, so that they are looked for first.
    "CASE WHEN {1} >= 0 THEN substring({0}, {1}) WHEN {1} < 0 THEN "
    "substring({0}, greatest(length({0}) + {1} + 1, 1)) END",
    "CASE WHEN {2} IS NULL THEN NULL WHEN {1} >= 0 THEN substring({0}, {1}, greatest({2}, 0)) "
    "WHEN {1} < 0 THEN substring({0}, greatest(length({0}) + {1} + 1, 1), greatest({2}, 0)) END",
)

# What Java's trim() takes off: the space, and all letters before it.
_BLANKS = f"CAST(X'{bytes(range(ord(' ') + 1)).hex()}' AS STRING)"
_LEFT, _RIGHT = "substring({0}, 1, {1})", "substring({0}, {1} + 1)"
_BUT_LAST = "substring({0}, 1, greatest(length({0}) - {1}, 0))"
_LAST = "substring({0}, greatest(length({0}) - {1}, 0) + 1)"
_ORDER = ("'BIG_ENDIAN'", "{1}")


def _number(function: str) -> FormulaMaker:
    def make(call: FunctionCall) -> Expression:
        return call.formula(f"{function}({{0}}, {_ORDER[len(call.arguments) - 1]})")

    return make


FORMULAS: dict[str, FormulaMaker] = {
    "BIGINT_FROM_BYTES": _number("hw_bigint"),
    "CHR": _chr,
    "DOUBLE_FROM_BYTES": _number("hw_double"),
    "ENCODE": named("hw_encode"),
    "FROM_BYTES": named("hw_from_bytes"),
    "INSTR": _instr,
    "INT_FROM_BYTES": _number("hw_int"),
    "MASK": _mask("{0}"),
    "MASK_KEEP_LEFT": _mask(_RIGHT, before=_LEFT),
    "MASK_KEEP_RIGHT": _mask(_BUT_LAST, after=_LAST),
    "MASK_LEFT": _mask(_LEFT, after=_RIGHT),
    "MASK_RIGHT": _mask(_LAST, before=_BUT_LAST),
    "REGEXP_EXTRACT": _extract("hw_regexp_extract"),
    "REGEXP_EXTRACT_ALL": _extract("hw_regexp_extract_all"),
    "REGEXP_REPLACE": named("hw_regexp_replace"),
    "REGEXP_SPLIT_TO_ARRAY": named("hw_regexp_split"),
    "SPLIT": _split,
    "SPLIT_TO_MAP": _split_to_map,
    "TO_BYTES": named("hw_to_bytes"),
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
    "TRIM": text(f"btrim({{0}}, {_BLANKS})"),
    "UCASE": named("upper"),
    "UUID": _uuid,
}
