"""Numbers, sizes, times and places as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = "-"
_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")


def count(number: float | None) -> str:
    """Return a number with its thousands apart.

    >>> count(1234567), count(0.25), count(None)
    ('1,234,567', '0.2', '-')
    """
    if number is None:
        return UNKNOWN
    if isinstance(number, float) and 0 < number < 10:
        return f"{number:.1f}"
    return f"{number:,.0f}"


def size(number: int | None) -> str:
    """Return bytes in the unit that fits.

    >>> size(999), size(2048), size(5 * 1024**3)
    ('999 B', '2.0 KiB', '5.0 GiB')
    """
    if number is None:
        return UNKNOWN
    if number < 1024:
        return f"{number} B"
    power = min((number.bit_length() - 1) // 10, len(_UNITS))
    return f"{number / 1024**power:.1f} {_UNITS[power - 1]}"


def seconds(number: float | None) -> str:
    """Return how long, in the unit that fits.

    >>> seconds(0.25), seconds(90), seconds(7200), seconds(200_000)
    ('0.2 s', '1.5 min', '2.0 h', '2.3 d')
    """
    if number is None:
        return UNKNOWN
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if number >= length:
            return f"{number / length:.1f} {unit}"
    return f"{number:.1f} s"


def moment(milliseconds: int) -> str:
    """Return a record's time, in UTC.

    >>> moment(0)
    '1970-01-01 00:00:00.000'
    """
    try:
        at = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(milliseconds)
    return at.strftime("%Y-%m-%d %H:%M:%S.") + f"{milliseconds % 1000:03d}"


def instant(text: str) -> str:
    """Return a moment that was written as ISO 8601, in UTC and to the second.

    >>> instant("2026-01-31T08:15:02.123+01:00"), instant("now")
    ('2026-01-31 07:15:02', 'now')
    """
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return text
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def path(*segments: str, query: Mapping[str, object] | None = None) -> str:
    """Return an address of this console; what is empty is left out of the query.

    >>> path("topics", "a/b", query={"q": "x y", "sort": ""})
    '/topics/a%2Fb?q=x+y'
    """
    given = {name: value for name, value in (query or {}).items() if value not in ("", None, False)}
    base = "/" + "/".join(quote(segment, safe="") for segment in segments)
    return f"{base}?{urlencode(given)}" if given else base
