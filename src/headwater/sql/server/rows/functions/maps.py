"""Maps, and lambdas over them or over arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.server.rows.functions.arrays import filtered, folded
from headwater.sql.server.rows.functions.row_call import CallMaker, lenient, strict, typed
from headwater.sql.types.sql_type import Map

if TYPE_CHECKING:
    from collections.abc import Callable


def _of_arrays(names: list[Any], values: list[Any]) -> dict[Any, Any]:
    if None in names[: len(values)]:
        raise ValueError("a map has no null for a key")
    made: dict[Any, Any] = {}
    for name, value in zip(names, values, strict=False):
        made.pop(name, None)  # of two the later one, at its place
        made[name] = value
    return made


def _entries(entries: dict[Any, Any], is_sorted: bool) -> list[dict[str, Any]]:
    names = sorted(entries) if is_sorted else list(entries)
    return [{"K": name, "V": entries[name]} for name in names]


def _union(left: dict[Any, Any] | None, right: dict[Any, Any] | None) -> dict[Any, Any] | None:
    if left is None or right is None:
        return right if left is None else left
    return {**{name: value for name, value in left.items() if name not in right}, **right}


def _by_kind(of_arrays: CallMaker, of_maps: CallMaker) -> CallMaker:
    return typed(lambda call: of_maps if isinstance(call.types[0], Map) else of_arrays)


def _kept(entries: dict[Any, Any], keep: Callable[..., Any]) -> dict[Any, Any]:
    return {name: value for name, value in entries.items() if keep(name, value)}


def _made(
    entries: dict[Any, Any], key: Callable[..., Any], value: Callable[..., Any]
) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for name, item in entries.items():
        new = key(name, item)
        if new is None or new in made:
            raise ValueError("a map has each key once, and no null")
        made[new] = value(name, item)
    return made


def _reduced(entries: dict[Any, Any] | None, state: Any, step: Callable[..., Any]) -> Any:
    for name, value in (entries or {}).items():
        state = step(state, name, value)
    return state


FUNCTIONS: dict[str, CallMaker] = {
    "AS_MAP": strict(_of_arrays),
    "ENTRIES": strict(_entries),
    "FILTER": _by_kind(strict(filtered), strict(_kept)),
    "MAP_KEYS": strict(list),
    "MAP_UNION": lenient(_union),
    "MAP_VALUES": strict(lambda entries: list(entries.values())),
    "REDUCE": _by_kind(lenient(folded), lenient(_reduced)),
    "TRANSFORM": _by_kind(
        strict(lambda values, make: [make(value) for value in values]), strict(_made)
    ),
}
