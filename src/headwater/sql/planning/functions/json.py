"""JSON in texts."""

from __future__ import annotations

from headwater.sql.planning.functions.function_call import FormulaMaker, named

FORMULAS: dict[str, FormulaMaker] = {
    "EXTRACTJSONFIELD": named("get_json_object"),
    "JSON_ARRAY_LENGTH": named("json_array_length"),
    "JSON_KEYS": named("json_object_keys"),
}
