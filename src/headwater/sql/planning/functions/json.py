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
    from headwater.plan.expressions import Expression

# What is around a value in JSON is cut off again: {"v": and }.
_AS_JSON = (
    "if({0} IS NULL, 'null', "
    "substring(to_json(named_struct('v', {0})), 6, length(to_json(named_struct('v', {0}))) - 6))"
)


def _contains(call: FunctionCall) -> Expression:
    return call.formula(f"hw_json_contains({{0}}, {_AS_JSON.replace('{0}', '{1}')})")


def _concat(call: FunctionCall) -> Expression:
    texts = ", ".join(f"{{{index}}}" for index in range(len(call.arguments)))
    return call.formula(f"hw_json_concat(array({texts}))")


FORMULAS: dict[str, FormulaMaker] = {
    "EXTRACTJSONFIELD": named("get_json_object"),
    "IS_JSON_STRING": text("coalesce(hw_is_json({0}), false)"),
    "JSON_ARRAY_CONTAINS": _contains,
    "JSON_ARRAY_LENGTH": named("json_array_length"),
    "JSON_CONCAT": _concat,
    "JSON_ITEMS": named("hw_json_items"),
    "JSON_KEYS": named("json_object_keys"),
    "JSON_RECORDS": text(
        "if(startswith(trim({0}), '{{'), from_json({0}, 'map<string, string>'), NULL)"
    ),
    "TO_JSON_STRING": text(_AS_JSON),
}
