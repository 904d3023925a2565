"""Values as PostgreSQL writes them in text, which is how its log and COPY have them."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.debezium.value_types import zoned

if TYPE_CHECKING:
    from collections.abc import Callable

_MICROS_OF_A_DAY = 86_400_000_000
_DAYS_OF_A_MONTH = 365.25 / 12
_DURATION = re.compile(
    r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?"
    r"(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?)?"
)
_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)')


def boolean(text: str) -> bool:
    """Read `t` or `f`."""
    return text in ("t", "true")


def raw(text: str) -> bytes:
    r"""Read bytes such as `\x00ff`."""
    return bytes.fromhex(text[2:])


def day(text: str) -> date:
    """Read a day."""
    return date.fromisoformat(text)


def moment(text: str) -> datetime:
    """Read a date and time without a zone, or in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=None)


def zoned_moment(text: str) -> str:
    """Read a moment in UTC; there is one before and one after all others, too."""
    return text if text.endswith("infinity") else zoned(moment(text))


def time_of_day(text: str) -> timedelta:
    """Read a time of day; the day's end is 24:00."""
    hours, minutes, seconds = text.split(":")
    whole, _, fraction = seconds.partition(".")
    micros = int(fraction.ljust(6, "0")) if fraction else 0
    return timedelta(
        hours=int(hours), minutes=int(minutes), seconds=int(whole), microseconds=micros
    )


def zoned_time(text: str) -> str:
    """Read a time of day with its distance from UTC.

    >>> zoned_time("03:04:05.5+02")
    '01:04:05.5Z'
    """
    found = re.fullmatch(r"([\d:.]+)([+-])([\d:]+)", text)
    if found is None:
        raise ValueError(f"{text} is no time with a zone")
    parts = [int(part) for part in found[3].split(":")]
    away = sum(part * unit for part, unit in zip(parts, (3600, 60, 1), strict=False))
    from_utc = timedelta(seconds=away if found[2] == "+" else -away)
    local = datetime(1970, 1, 2) + time_of_day(found[1])  # noqa: DTZ001 - of no zone
    return zoned(local - from_utc).partition("T")[2]


def duration(text: str) -> int:
    """Read an interval as microseconds; a month has as many days as months have on average.

    >>> duration("P1DT2H0.5S")
    93600500000
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError(f"{text} is no interval")
    years, months, days, hours, minutes = (int(found[n] or 0) for n in range(1, 6))
    of_months = (years * 12 + months) * _DAYS_OF_A_MONTH
    seconds = Decimal(found[6] or 0)
    of_day = (hours * 3600 + minutes * 60) * 1_000_000 + int(seconds * 1_000_000)
    return int((of_months + days) * _MICROS_OF_A_DAY) + of_day


def money(text: str) -> Decimal:
    """Read an amount such as `-$1,234.50`."""
    return Decimal(re.sub(r"[^\d.-]", "", text))


def variable_scale(text: str) -> dict[str, Any]:
    """Read a number with as many digits as it has, for Debezium's VariableScaleDecimal."""
    whole, _, fraction = text.partition(".")
    unscaled = int(whole + fraction)
    length = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    return {"scale": len(fraction), "value": unscaled.to_bytes(length, "big", signed=True)}


def items(text: str, read: Callable[[str], Any] | None) -> list[Any]:
    r"""Read an array of one dimension.

    >>> items('{1,NULL,"a \\"b\\""}', None)
    ['1', None, 'a "b"']
    """
    inner = text[1:-1]
    if inner.startswith("{") or not text.startswith("{"):
        raise ValueError("arrays of several dimensions cannot be captured")
    found: list[Any] = []
    for quoted, plain in _ITEM.findall(inner):
        if plain == "NULL":
            found.append(None)
            continue
        item = plain or re.sub(r"\\(.)", r"\1", quoted)
        found.append(item if read is None else read(item))
    return found


def or_infinity(read: Callable[[str], Any], most: int, least: int) -> Callable[[str], Any]:
    """Return a reader that has numbers for PostgreSQL's `infinity` and `-infinity`."""

    def reader(text: str) -> Any:
        if not text.endswith("infinity"):
            return read(text)
        return least if text.startswith("-") else most

    return reader
