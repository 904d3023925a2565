"""Texts, and bytes that the same is done with."""

from __future__ import annotations

import hashlib
import re
from typing import Any

from headwater.sql.server.rows.functions.masks import FUNCTIONS as MASKS
from headwater.sql.server.rows.functions.regexps import FUNCTIONS as REGEXPS
from headwater.sql.server.rows.functions.row_call import (
    CallMaker,
    RowCall,
    lenient,
    strict,
    typed,
    within_limit,
)
from headwater.sql.types.sql_type import STRING

# What Java's trim() takes off: the space, and all letters before it.
_BLANKS = "".join(map(chr, range(ord(" ") + 1)))
_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4}){1,2}")


def _concat(call: RowCall) -> CallMaker:
    """Return texts or bytes one after the other, of which nulls are nothing."""
    nothing: Any = "" if call.result == STRING else b""
    return lenient(lambda *values: nothing.join(value for value in values if value is not None))


def _concat_ws(separator: Any, *values: Any) -> Any:
    if separator is None:
        return None
    return separator.join(value for value in values if value is not None)


def _substring(text: Any, position: int, length: int | None = None) -> Any:
    """Return a part of a text or of bytes; a position counts from 1 or, negative, from the end."""
    start = max(position - 1, 0) if position >= 0 else max(len(text) + position, 0)
    return text[start:] if length is None else text[start : start + max(length, 0)]


def _padding(text: Any, length: int, filling: Any) -> Any:
    if length < 0 or not filling:
        raise ValueError("nothing can be added")
    missing = max(within_limit(length) - len(text), 0)
    return (filling * (missing // len(filling) + 1))[:missing]


def _lpad(text: Any, length: int, filling: Any) -> Any:
    padding = _padding(text, length, filling)
    return padding + text if padding else text[:length]


def _rpad(text: Any, length: int, filling: Any) -> Any:
    return (text + _padding(text, length, filling))[:length]


def _replace(text: str, part: str, replacement: str) -> str:
    if not part:
        return text
    within_limit(text.count(part) * len(replacement))
    return text.replace(part, replacement)


def _split(text: Any, delimiter: Any) -> list[Any]:
    if delimiter:
        return list(text.split(delimiter))
    if text == "":
        return [""]
    return [text[index : index + 1] for index in range(len(text))]


def _split_to_map(text: str, entries: str, parts: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in _split(text, entries):
        if parts not in entry:
            continue
        sides = _split(entry, parts)
        found.pop(sides[0], None)
        found[sides[0]] = sides[1] if len(sides) > 1 else ""
    return found


def _initcap(text: str) -> str:
    return " ".join(word.capitalize() for word in text.split(" "))


def _instr(text: str, part: str, position: int = 1, occurrence: int = 1) -> int:
    """Return the place of the nth occurrence from a place on, or backwards from one of the end."""
    if position == 0 or occurrence < 1:
        return 0
    found = position - 2 if position > 0 else len(text) + position + 1
    for _ in range(occurrence):
        if position > 0:
            found = text.find(part, found + 1)
        else:
            found = text.rfind(part, 0, found - 1 + len(part)) if found > 0 else -1
        if found < 0:
            return 0
    return found + 1


def _unescaped(escape: str) -> str:
    if _ESCAPED.fullmatch(escape) is None:
        raise ValueError("no escape")
    units = bytes.fromhex(escape.replace("\\u", ""))
    return units.decode("utf-16-be", "replace")


def _chr(call: RowCall) -> CallMaker:
    return strict(_unescaped if call.types[0] == STRING else chr)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


FUNCTIONS: dict[str, CallMaker] = {
    **MASKS,
    **REGEXPS,
    "CHR": typed(_chr),
    "CONCAT": typed(_concat),
    "CONCAT_WS": lenient(_concat_ws),
    "INITCAP": strict(_initcap),
    "INSTR": strict(_instr),
    "LCASE": strict(str.lower),
    "LEN": strict(len),
    "LPAD": strict(_lpad),
    "MD5": strict(_md5),
    "REPLACE": strict(_replace),
    "RPAD": strict(_rpad),
    "SPLIT": strict(_split),
    "SPLIT_TO_MAP": strict(_split_to_map),
    "SUBSTRING": strict(_substring),
    "TRIM": strict(lambda text: text.strip(_BLANKS)),
    "UCASE": strict(str.upper),
}
