"""Arrays, and lambdas over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.server.rows.casting import text_of
from headwater.sql.server.rows.equality import contains, equal, ordered
from headwater.sql.server.rows.functions.row_call import CallMaker, RowCall, lenient, strict, typed
from headwater.sql.types.sql_type import Array

if TYPE_CHECKING:
    from collections.abc import Callable


def _concat(left: list[Any] | None, right: list[Any] | None) -> list[Any] | None:
    if left is None or right is None:
        return right if left is None else left
    return left + right


def distinct(values: list[Any]) -> list[Any]:
    """Return each value once, in the order in which they first come."""
    found: list[Any] = []
    for value in values:
        if not contains(found, value):
            found.append(value)
    return found


def _contains(values: list[Any] | None, wanted: Any) -> bool:
    return values is not None and contains(values, wanted)


def _except(left: list[Any], right: list[Any]) -> list[Any]:
    return distinct([value for value in left if not contains(right, value)])


def _intersect(left: list[Any], right: list[Any]) -> list[Any]:
    return distinct([value for value in left if contains(right, value)])


def _removed(values: list[Any] | None, wanted: Any) -> list[Any] | None:
    return None if values is None else [each for each in values if not equal(each, wanted)]


def _extreme(choose: Callable[..., Any]) -> CallMaker:
    """Return ARRAY_MAX or ARRAY_MIN, to which nulls are nothing."""

    def make(values: list[Any]) -> Any:
        there = [value for value in values if value is not None]
        return choose(there, key=ordered) if there else None

    return strict(make)


def _sorted(values: list[Any], direction: str = "ASC") -> list[Any]:
    there = [value for value in values if value is not None]
    there.sort(key=ordered)
    if direction.upper().startswith("DESC"):
        there.reverse()
    return there + [None] * (len(values) - len(there))


def _join(call: RowCall) -> CallMaker:
    (array, *_) = call.types
    assert isinstance(array, Array)
    element = array.element

    def join(values: list[Any] | None, delimiter: str | None = ",") -> str | None:
        if values is None:
            return None
        return (delimiter or "").join(text_of(value, element) for value in values)

    return lenient(join)


def _slice(values: list[Any] | None, first: int | None, last: int | None) -> list[Any] | None:
    if values is None:
        return None
    start = 1 if first is None else first
    end = len(values) if last is None else last
    return values[start - 1 : end] if 0 < start <= end + 1 and end <= len(values) else None


def _element(place: int | None, *texts: str | None) -> str | None:
    return texts[place - 1] if place is not None and 0 < place <= len(texts) else None


def _place(text: str | None, *texts: str | None) -> int:
    return texts.index(text) + 1 if text is not None and text in texts else 0


def filtered(values: list[Any], keep: Callable[..., Any]) -> list[Any]:
    """Return the elements for which a lambda is true."""
    return [value for value in values if keep(value)]


def folded(values: list[Any] | None, state: Any, step: Callable[..., Any]) -> Any:
    """Return what a lambda makes of a state and one element after the other."""
    for value in values or ():
        state = step(state, value)
    return state


FUNCTIONS: dict[str, CallMaker] = {
    "ARRAY_CONCAT": lenient(_concat),
    "ARRAY_CONTAINS": lenient(_contains),
    "ARRAY_DISTINCT": strict(distinct),
    "ARRAY_EXCEPT": strict(_except),
    "ARRAY_INTERSECT": strict(_intersect),
    "ARRAY_JOIN": typed(_join),
    "ARRAY_LENGTH": strict(len),
    "ARRAY_MAX": _extreme(max),
    "ARRAY_MIN": _extreme(min),
    "ARRAY_REMOVE": lenient(_removed),
    "ARRAY_SORT": strict(_sorted),
    "ARRAY_UNION": strict(lambda left, right: distinct(left + right)),
    "AS_VALUE": lenient(lambda value: value),
    "ELT": lenient(_element),
    "FIELD": lenient(_place),
    "SLICE": lenient(_slice),
}
