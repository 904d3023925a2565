"""JSON in texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.functions.function_call import (
    FormulaMaker,
    FunctionCall,
    named,
    text,
)

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression

# What is around a value in JSON is cut off again: {"v": and }.
_WRITTEN = (
    "to_json(named_struct('v', {0}), map('ignoreNullFields', 'false', "
    "'timestampFormat', 'yyyy-MM-dd\\'T\\'HH:mm:ss.SSS'))"
)
_AS_JSON = f"if({{0}} IS NULL, 'null', substring({_WRITTEN}, 6, length({_WRITTEN}) - 6))"


def _contains(call: FunctionCall) -> Expression:
    return call.formula(f"hw_json_contains({{0}}, {_AS_JSON.replace('{0}', '{1}')})")


def _concat(call: FunctionCall) -> Expression:
    texts = ", ".join(f"{{{index}}}" for index in range(len(call.arguments)))
    return call.formula(f"hw_json_concat(array({texts}))")


FORMULAS: dict[str, FormulaMaker] = {
    "EXTRACTJSONFIELD": named("hw_json_field"),
    "IS_JSON_STRING": text("coalesce(hw_is_json({0}), false)"),
    "JSON_ARRAY_CONTAINS": _contains,
    "JSON_ARRAY_LENGTH": named("hw_json_length"),
    "JSON_CONCAT": _concat,
    "JSON_ITEMS": named("hw_json_items"),
    "JSON_KEYS": named("hw_json_keys"),
    "JSON_RECORDS": named("hw_json_records"),
    "TO_JSON_STRING": text(_AS_JSON),
}
