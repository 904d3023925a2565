"""JSON as Jackson reads and writes it: numbers keep their digits, and texts their letters."""

from __future__ import annotations

import decimal
import json
import re
from typing import Any

from headwater.sql.server.rows.casting import text_of
from headwater.sql.types.sql_type import STRING, Array, Map, SqlType, Struct

_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f"} | {
    "\r": "\\r"
}
_ESCAPED = re.compile(r'["\\\x00-\x1f]')
_BARE = (bool, int, decimal.Decimal)


def parsed(text: str) -> Any:
    """Return what JSON says, other numbers than whole ones as decimals; raises ValueError."""
    try:
        return json.loads(text, parse_float=decimal.Decimal, parse_constant=_refused)
    except RecursionError:
        raise ValueError("too deep") from None


def written(node: Any) -> str:
    """Return JSON without blanks."""
    match node:
        case None:
            return "null"
        case bool():
            return "true" if node else "false"
        case str():
            return _quoted(node)
        case list():
            return "[" + ",".join(map(written, node)) + "]"
        case dict():
            entries = (f"{_quoted(name)}:{written(part)}" for name, part in node.items())
            return "{" + ",".join(entries) + "}"
        case _:
            return str(node)


def json_of(value: Any, type_: SqlType) -> str:
    """Return a value of the language as JSON: times as texts, bytes in base64."""
    match value, type_:
        case None, _:
            return "null"
        case list(), Array(element):
            return "[" + ",".join(json_of(item, element) for item in value) + "]"
        case dict(), Map(key, item):
            entries = (
                f"{_quoted(text_of(name, key))}:{json_of(part, item)}"
                for name, part in value.items()
            )
            return "{" + ",".join(entries) + "}"
        case dict(), Struct(fields):
            parts = (f"{_quoted(name)}:{json_of(value.get(name), part)}" for name, part in fields)
            return "{" + ",".join(parts) + "}"
    text = text_of(value, type_)
    is_bare = type_ != STRING and isinstance(value, _BARE)
    if isinstance(value, float):
        is_bare = text not in ("NaN", "Infinity", "-Infinity")
    return text if is_bare else _quoted(text)


def is_same(one: Any, other: Any) -> bool:
    """Tell whether two nodes are of one kind and equal: 1 is not 1.0, and 1.0 is 1.00."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(is_same(one[name], other[name]) for name in one)
    return bool(one == other)


def _quoted(text: str) -> str:
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _escape(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[0]) or f"\\u{ord(found[0]):04X}"


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
