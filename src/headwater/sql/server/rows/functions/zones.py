"""Time zones as Java's ZoneId reads and writes them."""

from __future__ import annotations

import datetime as dt
import functools
import re
import zoneinfo

_OFFSET = re.compile(r"([+-])(\d{1,2})(?::?(\d{2}))?(?::?(\d{2}))?")
_MOST_HOURS = 18


@functools.lru_cache(maxsize=1000)
def zone(text: str) -> dt.tzinfo:
    """Return a zone by its name or its offset; raises ValueError for what is none.

    >>> str(zone("UTC+0130"))
    'UTC+01:30'
    """
    if text in ("Z", "UTC", "GMT", "UT"):
        return dt.timezone(dt.timedelta(), text)
    for prefix in ("UTC", "GMT", "UT", ""):
        rest = text.removeprefix(prefix)
        if text.startswith(prefix) and rest.startswith(("+", "-")):
            offset = _offset(rest)
            shown = offset_text(int(offset.total_seconds()), "XXXXX")
            return dt.timezone(offset, prefix + ("" if prefix and shown == "Z" else shown))
    try:
        return zoneinfo.ZoneInfo(text)
    except (zoneinfo.ZoneInfoNotFoundError, OSError):
        raise ValueError(f"there is no zone {text}") from None


def _offset(text: str) -> dt.timedelta:
    found = _OFFSET.fullmatch(text)
    if found is None or (len(found[2]) == 1 and found[3] is not None):
        raise ValueError(f"{text} is no offset")
    hours, minutes, seconds = int(found[2]), int(found[3] or 0), int(found[4] or 0)
    length = dt.timedelta(hours=hours, minutes=minutes, seconds=seconds)
    if minutes > 59 or seconds > 59 or length > dt.timedelta(hours=_MOST_HOURS):
        raise ValueError(f"{text} is no offset")
    return length if found[1] == "+" else -length


def offset_of(moment: dt.datetime) -> int:
    """Return a time's distance from UTC in seconds."""
    length = moment.utcoffset()
    assert length is not None
    return int(length.total_seconds())


def name_of(moment: dt.datetime) -> str:
    """Return the name of a time's zone: that of a place, or its offset."""
    if isinstance(moment.tzinfo, zoneinfo.ZoneInfo):
        return moment.tzinfo.key
    return moment.tzname() or ""


def short_name_of(moment: dt.datetime) -> str:
    """Return the short name of a time's zone, such as CET."""
    if isinstance(moment.tzinfo, zoneinfo.ZoneInfo):
        return moment.tzname() or moment.tzinfo.key
    return name_of(moment)


def offset_text(seconds: int, letters: str) -> str:
    """Return an offset as the letters X, x, Z and O of a pattern write it."""
    kind, count = letters[0], len(letters)
    if kind == "O" or letters == "ZZZZ":
        return _localized(seconds, is_short=count == 1)
    if seconds == 0 and (kind == "X" or letters == "ZZZZZ"):
        return "Z"
    sign, rest = "-" if seconds < 0 else "+", abs(seconds)
    hours, minutes, left = rest // 3600, rest // 60 % 60, rest % 60
    if kind == "Z":
        count = 5 if count == 5 else 2
    mark = ":" if count in (3, 5) else ""
    text = f"{sign}{hours:02d}"
    if count > 1 or minutes:
        text += f"{mark}{minutes:02d}"
    return text + f"{mark}{left:02d}" if count > 3 and left else text


def _localized(seconds: int, *, is_short: bool) -> str:
    if seconds == 0:
        return "GMT"
    sign, rest = "-" if seconds < 0 else "+", abs(seconds)
    hours, minutes, left = rest // 3600, rest // 60 % 60, rest % 60
    text = f"GMT{sign}{hours}" if is_short else f"GMT{sign}{hours:02d}"
    if minutes or left or not is_short:
        text += f":{minutes:02d}"
    return text + f":{left:02d}" if left else text
