"""All functions by name, in the order of their names."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from headwater.sql.functions.catalogue import (
    aggregates,
    collections,
    json,
    math,
    nulls,
    strings,
    times,
    urls,
)
from headwater.sql.types.errors import TypeMismatchError

if TYPE_CHECKING:
    from headwater.sql.functions.function import Function

_ROOMS = (aggregates, collections, json, math, nulls, strings, times, urls)
FUNCTIONS: dict[str, Function] = {
    function.name: function
    for function in sorted(
        (function for room in _ROOMS for function in room.FUNCTIONS), key=lambda each: each.name
    )
}


class UnknownFunctionError(TypeMismatchError):
    """A function that there is not."""


def find_function(name: str) -> Function:
    """Return the function of this name; capitals do not matter."""
    found = FUNCTIONS.get(name.upper())
    if found is None:
        close = difflib.get_close_matches(name.upper(), FUNCTIONS, n=1)
        hint = f"did you mean {close[0]}?" if close else "SHOW FUNCTIONS lists those there are"
        raise UnknownFunctionError(f"there is no function {name}; {hint}")
    return found
