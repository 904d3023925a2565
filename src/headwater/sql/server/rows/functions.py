"""Functions in Python that are null where an argument is, by their names."""

from __future__ import annotations

import decimal
import hashlib
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def _substring(text: Any, position: int, length: int | None = None) -> Any:
    """Return a part of a text or of bytes; a position counts from 1 or, negative, from the end."""
    start = max(position - 1, 0) if position >= 0 else max(len(text) + position, 0)
    return text[start:] if length is None else text[start : start + max(length, 0)]


def _padding(text: Any, length: int, filling: Any) -> Any:
    """Return what is to be added, None where nothing can be."""
    if length < 0 or not filling:
        return None
    missing = max(length - len(text), 0)
    return (filling * (missing // len(filling) + 1))[:missing]


def _lpad(text: Any, length: int, filling: Any) -> Any:
    padding = _padding(text, length, filling)
    return None if padding is None else (padding + text if padding else text[:length])


def _rpad(text: Any, length: int, filling: Any) -> Any:
    padding = _padding(text, length, filling)
    return None if padding is None else (text + padding)[:length]


def _replace(text: str, part: str, replacement: str) -> str:
    return text.replace(part, replacement) if part else text


def _split(text: Any, delimiter: Any) -> list[Any]:
    if delimiter:
        return list(text.split(delimiter))
    return [text[index : index + 1] for index in range(len(text))]


def _initcap(text: str) -> str:
    return " ".join(word.capitalize() for word in text.split(" "))


def _whole(rounding: str, of_double: Callable[[float], int]) -> Callable[[Any], Any]:
    """Return CEIL or FLOOR, which keep the type of their argument."""

    def make(value: Any) -> Any:
        if isinstance(value, decimal.Decimal):
            return value.to_integral_value(rounding).quantize(value)
        if isinstance(value, float):
            return float(of_double(value)) if math.isfinite(value) else value
        return value

    return make


def _sqrt(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _sign(value: Any) -> int:
    return int(value > 0) - int(value < 0)


def _extreme(choose: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Return ARRAY_MAX or ARRAY_MIN, to which nulls are nothing."""

    def make(values: list[Any]) -> Any:
        there = [value for value in values if value is not None]
        return choose(there) if there else None

    return make


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _distinct(values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


STRICT: dict[str, Callable[..., Any]] = {
    "ABS": abs,
    "ARRAY_DISTINCT": _distinct,
    "ARRAY_LENGTH": len,
    "ARRAY_MAX": _extreme(max),
    "ARRAY_MIN": _extreme(min),
    "AS_VALUE": lambda key: key,
    "CEIL": _whole(decimal.ROUND_CEILING, math.ceil),
    "FLOOR": _whole(decimal.ROUND_FLOOR, math.floor),
    "INITCAP": _initcap,
    "LCASE": str.lower,
    "LEN": len,
    "LPAD": _lpad,
    "MAP_KEYS": list,
    "MAP_VALUES": lambda entries: list(entries.values()),
    "MD5": _md5,
    "REPLACE": _replace,
    "RPAD": _rpad,
    "SIGN": _sign,
    "SPLIT": _split,
    "SQRT": _sqrt,
    "SUBSTRING": _substring,
    "TRIM": str.strip,
    "UCASE": str.upper,
}
