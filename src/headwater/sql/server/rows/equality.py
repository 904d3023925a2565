"""Equality and order of values, as Java's objects have them: NaN is itself, and the greatest."""

from __future__ import annotations

import math
from typing import Any


def equal(one: Any, other: Any) -> bool:
    """Tell whether two values are the same; null is the same as null."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (math.isnan(one) and math.isnan(other))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[name], other[name]) for name in one)
    return bool(one == other)


def contains(values: list[Any], wanted: Any) -> bool:
    """Tell whether a value is among others."""
    return any(equal(value, wanted) for value in values)


def ordered(value: Any) -> Any:
    """Return what values of one type that is not null are put in order by."""
    if isinstance(value, float):
        return (1, 0.0) if math.isnan(value) else (0, value)
    if isinstance(value, list):
        return [(item is not None, None if item is None else ordered(item)) for item in value]
    if isinstance(value, dict):
        return ordered(list(value.values()))
    return value
