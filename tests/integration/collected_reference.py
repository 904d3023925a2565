"""What aggregates that keep values or calculate with them must give, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.integration.streams_reference import Value


def collected(values: Sequence[Value]) -> Value:
    """Return all results over the records of a group, in the order of their arrival."""
    numbers = [each["value"] for each in values]
    present = [number for number in numbers if number is not None]
    ids = [each["id"] for each in values]
    return {
        "listed": numbers[:4],
        "different": list(dict.fromkeys(numbers)),
        "earliest": present[0] if present else None,
        "earliest_of_all": numbers[0],
        "latest": present[-1] if present else None,
        "latest_three": present[-3:],
        "greatest": sorted(present, reverse=True)[:3],
        "greatest_ids": [
            {"sort_col": each["value"], "col0": each["id"]}
            for each in sorted(
                (each for each in values if each["value"] is not None),
                key=lambda each: -each["value"],
            )[:2]
        ],
        "greatest_different": sorted(set(present), reverse=True)[:3],
        **table_statistics(numbers),
        "bars": dict(Counter(ids)),
        "only_id": only(ids),
    }


def table_statistics(numbers: Sequence[int | None]) -> Value:
    """Return what can also be taken back, over the rows that are there."""
    present = [number for number in numbers if number is not None]
    return {
        "kinds": len(set(present)),
        "variance": variance(present),
        "deviation": math.sqrt(variance(present)),
        "related": correlation(present, [number * number for number in present]),
        "only": only(numbers),
    }


def variance(numbers: Sequence[float]) -> float:
    """Return the variance of a sample; 0 for fewer than two numbers."""
    if len(numbers) < 2:
        return 0.0
    mean = sum(numbers) / len(numbers)
    return sum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1)


def correlation(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Return Pearson's correlation, or NaN where there is none."""
    n = len(xs)
    spreads = [n * sum(v * v for v in side) - sum(side) ** 2 for side in (xs, ys)]
    if spreads[0] <= 0 or spreads[1] <= 0:
        return math.nan
    both = n * sum(x * y for x, y in zip(xs, ys, strict=True)) - sum(xs) * sum(ys)
    return both / math.sqrt(spreads[0] * spreads[1])


def only(values: Sequence[Any]) -> Any:
    """Return the value that all are, or None."""
    return values[0] if len(set(values)) == 1 else None


def rounded(value: Any) -> Any:
    """Return a result without the digits in which two ways to calculate may differ."""
    match value:
        case float():
            return "NaN" if math.isnan(value) else round(value, 6) + 0.0
        case dict():
            parts = {name: rounded(part) for name, part in value.items()}
            return {name: part for name, part in parts.items() if part is not None}
        case list():
            return [rounded(part) for part in value]
        case _:
            return value
