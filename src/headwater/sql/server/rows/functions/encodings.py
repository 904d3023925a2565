"""Bytes as texts in the encodings hex, utf8, ascii and base64, and numbers in bytes."""

from __future__ import annotations

import base64
import re
import struct
import uuid
from typing import TYPE_CHECKING

from headwater.sql.server.rows.functions.row_call import CallMaker, RowCall, lenient, strict, typed

if TYPE_CHECKING:
    from collections.abc import Callable

_HEX = re.compile(r"0x(.*)|[xX]'(.*)'|(.*)", re.DOTALL)
_DIGITS = re.compile(r"(?:[0-9a-fA-F]{2})*")
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}=*)?")


def _to_bytes(text: str, encoding: str) -> bytes:
    match encoding.lower():
        case "hex":
            return _from_hex(text)
        case "utf8":
            return text.encode()
        case "ascii":
            return text.encode("ascii", "replace")
        case "base64":
            return _from_base64(text.encode())
    raise ValueError(f"there is no encoding {encoding}")


def _from_hex(text: str) -> bytes:
    found = _HEX.fullmatch(text)
    digits = text
    if found is not None and found[1] is not None:
        # A number may begin with half a byte.
        digits = ("0" if len(found[1]) % 2 else "") + found[1]
    elif found is not None and found[2] is not None:
        digits = found[2]
    if _DIGITS.fullmatch(digits) is None:
        raise ValueError("no hexadecimal digits")
    return bytes.fromhex(digits)


def _from_base64(text: bytes) -> bytes:
    """Return bytes of base64, whose padding may be missing, but not be of another length."""
    if _BASE64.fullmatch(text) is None or (text.endswith(b"=") and len(text) % 4):
        raise ValueError("no base64")
    return base64.b64decode(text + b"=" * (-len(text) % 4))


def _from_bytes(value: bytes, encoding: str) -> str:
    match encoding.lower():
        case "hex":
            return value.hex().upper()
        case "utf8":
            return value.decode("utf-8", "replace")
        case "ascii":
            return value.decode("ascii", "replace")
        case "base64":
            return base64.b64encode(value).decode()
    raise ValueError(f"there is no encoding {encoding}")


def _encode(text: str, given: str, wanted: str) -> str:
    encoded = _from_bytes(_to_bytes(text, given), wanted)
    return encoded.lower() if wanted.lower() == "hex" else encoded


def _number(letter: str) -> CallMaker:
    def make(value: bytes, order: str = "BIG_ENDIAN") -> int | float:
        mark = "<" if order.upper() == "LITTLE_ENDIAN" else ">"
        number: int | float
        try:
            (number,) = struct.unpack(mark + letter, value)
        except struct.error as length:
            raise ValueError(str(length)) from None
        return number

    return strict(make)


def _uuid(call: RowCall) -> CallMaker:
    made: Callable[..., str]
    if not call.arguments:
        made = lambda: str(uuid.uuid4())  # noqa: E731
        return lenient(made)
    return strict(lambda value: str(uuid.UUID(bytes=value)))


FUNCTIONS: dict[str, CallMaker] = {
    "BIGINT_FROM_BYTES": _number("q"),
    "DOUBLE_FROM_BYTES": _number("d"),
    "ENCODE": strict(_encode),
    "FROM_BYTES": strict(_from_bytes),
    "INT_FROM_BYTES": _number("i"),
    "TO_BYTES": strict(_to_bytes),
    "UUID": typed(_uuid),
}
