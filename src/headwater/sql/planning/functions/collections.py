"""Arrays and maps, and lambdas over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.planning.comparing import comparable, has_map
from headwater.sql.planning.formulas import field, formula
from headwater.sql.planning.functions.function_call import FormulaMaker, FunctionCall, named, text
from headwater.sql.types.sql_type import BOOLEAN, Array, Map

if TYPE_CHECKING:
    from headwater.plan.expressions.expressions import Expression


def _filter(call: FunctionCall) -> Expression:
    function = "map_filter" if isinstance(call.types[0], Map) else "filter"
    return call.formula(f"{function}({{0}}, {call.lambda_(1)} -> {{1}})")


def _transform(call: FunctionCall) -> Expression:
    if not isinstance(call.types[0], Map):
        return call.formula(f"transform({{0}}, {call.lambda_(1)} -> {{1}})")
    entry = f"named_struct('key', {_within(call, 1)}, 'value', {_within(call, 2)})"
    entries = f"transform(map_entries({{0}}), _e -> {entry})"
    # A map that has a key twice, or a null for one, would end the query.
    keys = "transform(_es, _x -> _x.key)"
    is_map = f"size(array_distinct({keys})) = size(_es) AND NOT exists({keys}, _k -> _k IS NULL)"
    made = f"CASE WHEN {is_map} THEN map_from_entries(_es) END"
    return call.formula(f"transform(array({entries}), _es -> {made})[0]")


def _within(call: FunctionCall, index: int) -> str:
    """Return a lambda over an entry's key and value, called at once with those of `_e`."""
    key, value = call.parameters[index]
    inner = f"transform(array(_e.value), ({field(value)}, _i) -> {{{index}}})"
    return f"transform(array(_e.key), ({field(key)}, _i) -> {inner}[0])[0]"


def _reduce(call: FunctionCall) -> Expression:
    if isinstance(call.types[0], Map):
        state, key, value = call.parameters[2]
        inner = f"transform(array(_e.value), ({field(value)}, _j) -> {{2}})[0]"
        step = f"transform(array(_e.key), ({field(key)}, _i) -> {inner})[0]"
        folded = f"reduce(map_entries({{0}}), {{1}}, ({field(state)}, _e) -> {step})"
    else:
        folded = f"reduce({{0}}, {{1}}, {call.lambda_(2)} -> {{2}})"
    return call.formula(f"if({{0}} IS NULL, {{1}}, {folded})")


def _sorted(call: FunctionCall) -> Expression:
    up = "array_sort({0})"
    if len(call.arguments) == 1:
        return call.formula(up)
    values, nulls = "filter({0}, _x -> _x IS NOT NULL)", "filter({0}, _x -> _x IS NULL)"
    down = f"concat(reverse(array_sort({values})), {nulls})"
    is_down = "startswith(upper({1}), 'DESC')"
    return call.formula(f"CASE WHEN {is_down} THEN {down} ELSE {up} END")


def _joined(call: FunctionCall) -> Expression:
    parts = "transform({0}, _x -> coalesce(CAST(_x AS string), 'null'))"
    mark = "coalesce({1}, '')" if len(call.arguments) > 1 else "','"
    return call.formula(f"array_join({parts}, {mark})")


def _element(call: FunctionCall) -> Expression:
    texts = ", ".join(f"{{{index}}}" for index in range(1, len(call.arguments)))
    return call.formula(f"CASE WHEN {{0}} > 0 THEN try_element_at(array({texts}), {{0}}) END")


def _place(call: FunctionCall) -> Expression:
    texts = ", ".join(f"{{{index}}}" for index in range(1, len(call.arguments)))
    return call.formula(f"CAST(coalesce(array_position(array({texts}), {{0}}), 0) AS int)")


def _same(call: FunctionCall) -> Expression:
    """Return whether the element `_x` of an array is the value that is asked for."""
    array, value = call.types
    assert isinstance(array, Array)
    left = comparable(formula("_x", array.element), array.element)
    right = comparable(call.arguments[1], value)
    return formula("({0} <=> {1})", BOOLEAN, left, right)


def _contains(call: FunctionCall) -> Expression:
    text_ = "coalesce(exists({0}, _x -> {1}), false)"
    return formula(text_, call.result, call.arguments[0], _same(call))


def _remove(call: FunctionCall) -> Expression:
    return formula("filter({0}, _x -> NOT {1})", call.result, call.arguments[0], _same(call))


def _distinct(call: FunctionCall) -> Expression:
    (array,) = call.types
    assert isinstance(array, Array)
    if not has_map(array.element):
        return call.formula("array_distinct({0})")
    first, other = (
        comparable(formula(name, array.element), array.element) for name in ("_x", "_y")
    )
    before = "slice({0}, 1, _i)"
    return formula(
        f"filter({{0}}, (_x, _i) -> NOT exists({before}, _y -> {{1}} <=> {{2}}))",
        call.result, call.arguments[0], first, other,
    )  # fmt: skip


def _map_of_arrays(call: FunctionCall) -> Expression:
    """Return a map of keys that are there, each with the last of its values."""
    zipped = "zip_with({0}, {1}, (_k, _v) -> named_struct('key', _k, 'value', _v))"
    pairs = f"slice({zipped}, 1, least(size({{0}}), size({{1}})))"
    later = "slice(_es, _i + 2, size(_es))"
    last = f"filter(_es, (_e, _i) -> NOT exists({later}, _l -> _l.key = _e.key))"
    is_map = "NOT exists(_es, _e -> _e.key IS NULL)"
    made = f"CASE WHEN {is_map} THEN map_from_entries({last}) END"
    return call.formula(f"transform(array({pairs}), _es -> {made})[0]")


FORMULAS: dict[str, FormulaMaker] = {
    "ARRAY_CONCAT": text(
        "CASE WHEN {0} IS NULL THEN {1} WHEN {1} IS NULL THEN {0} ELSE concat({0}, {1}) END"
    ),
    "ARRAY_CONTAINS": _contains,
    "ARRAY_DISTINCT": _distinct,
    "ARRAY_EXCEPT": named("array_except"),
    "ARRAY_INTERSECT": named("array_intersect"),
    "ARRAY_JOIN": _joined,
    "ARRAY_LENGTH": text("CASE WHEN {0} IS NOT NULL THEN size({0}) END"),
    "ARRAY_MAX": named("array_max"),
    "ARRAY_MIN": named("array_min"),
    "ARRAY_REMOVE": _remove,
    "ARRAY_SORT": _sorted,
    "ARRAY_UNION": named("array_union"),
    "AS_MAP": _map_of_arrays,
    "AS_VALUE": text("{0}"),
    "ELT": _element,
    "ENTRIES": text(
        "transform(if({1}, array_sort(map_entries({0}), (_l, _r) -> CASE WHEN _l.key < _r.key "
        "THEN -1 WHEN _l.key > _r.key THEN 1 ELSE 0 END), map_entries({0})), "
        "_e -> named_struct('K', _e.key, 'V', _e.value))"
    ),
    "FIELD": _place,
    "FILTER": _filter,
    "MAP_KEYS": named("map_keys"),
    "MAP_UNION": text(
        "CASE WHEN {0} IS NULL THEN {1} WHEN {1} IS NULL THEN {0} ELSE "
        "map_concat(map_filter({0}, (_k, _v) -> NOT map_contains_key({1}, _k)), {1}) END"
    ),
    "MAP_VALUES": named("map_values"),
    "REDUCE": _reduce,
    "SLICE": text(
        "CASE WHEN coalesce({1}, 1) > 0 AND coalesce({2}, size({0})) >= coalesce({1}, 1) - 1 "
        "AND coalesce({2}, 0) <= size({0}) THEN "
        "slice({0}, coalesce({1}, 1), coalesce({2}, size({0})) - coalesce({1}, 1) + 1) END"
    ),
    "TRANSFORM": _transform,
}
