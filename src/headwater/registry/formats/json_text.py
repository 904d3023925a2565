"""JSON as Java's Jackson reads and writes it, so that equal schemas have equal texts everywhere."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from headwater.registry.formats.base import InvalidSchemaError

if TYPE_CHECKING:
    from collections.abc import Callable

# Deeper ones are no use to anybody, and what compares schemas is recursive.
MAX_DEPTH = 150


def parse_json(text: str, *, exact_numbers: bool = False) -> Any:
    """Return the value; raises InvalidSchemaError. Exact numbers keep 1.10 apart from 1.1."""
    try:
        value = json.loads(
            text,
            parse_float=Decimal if exact_numbers else float,
            parse_constant=_no_constant,
        )
    except RecursionError:
        raise InvalidSchemaError(f"the schema nests deeper than {MAX_DEPTH} levels") from None
    except ValueError as failure:
        raise InvalidSchemaError(f"the schema is not JSON: {failure}") from None
    check_depth(value)
    return value


def check_depth(value: Any) -> None:
    """Raise InvalidSchemaError for a value that nests too deeply."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return
    raise InvalidSchemaError(f"the schema nests deeper than {MAX_DEPTH} levels")


def write_json(value: Any) -> str:
    """Return compact JSON with the keys in the order in which they are."""
    parts: list[str] = []
    _write(value, parts.append)
    return "".join(parts)


def quote(text: str) -> str:
    """Return a string as a JSON literal."""
    quoted = json.dumps(text, ensure_ascii=False)
    if "\\u" in quoted or _SURROGATE.search(quoted) is not None:
        quoted = _CONTROL.sub(lambda match: match[0][:-4] + match[0][-4:].upper(), quoted)
        quoted = _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04X}", quoted)
    return quoted


def java_double(number: float) -> str:
    """Return a double as Java's Double.toString does: 1.0E10, 1.0E-4, 0.001."""
    if number != number:
        return '"NaN"'
    if number in (float("inf"), float("-inf")):
        return '"Infinity"' if number > 0 else '"-Infinity"'
    magnitude = abs(number)
    if magnitude == 0 or 1e-3 <= magnitude < 1e7:
        text = repr(number)
        return text if "e" not in text else f"{number:f}"
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    mantissa = "".join(map(str, digits))
    power = exponent + len(mantissa) - 1
    return f"{'-' if sign else ''}{mantissa[0]}.{mantissa[1:] or '0'}E{power}"


_CONTROL = re.compile(r"(?<!\\)(?:\\\\)*\\u00[0-9a-f]{2}")
_SURROGATE = re.compile("[\ud800-\udfff]")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _write(value: Any, write: Callable[[str], None]) -> None:
    if isinstance(value, dict):
        separator = "{"
        for key, each in value.items():
            write(f"{separator}{quote(key)}:")
            _write(each, write)
            separator = ","
        write("}" if value else "{}")
    elif isinstance(value, list | tuple):
        separator = "["
        for each in value:
            write(separator)
            _write(each, write)
            separator = ","
        write("]" if value else "[]")
    else:
        write(_scalar(value))


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return java_double(value)
    if isinstance(value, Decimal):
        return str(abs(value)) if not value else str(value)
    return str(value)
