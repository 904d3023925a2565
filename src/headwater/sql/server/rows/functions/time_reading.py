"""A time out of the fields that were read, resolved as Java does it unless told to be strict."""

from __future__ import annotations

import calendar
import datetime as dt
from typing import TYPE_CHECKING

from headwater.sql.server.rows.casting import EPOCH
from headwater.sql.server.rows.functions.time_letters import DAYS, MONTHS
from headwater.sql.server.rows.functions.zones import zone

if TYPE_CHECKING:
    from headwater.sql.server.rows.functions.time_letters import Letters

_RANGES = {
    "D": (1, 366), "M": (1, 12), "d": (1, 31), "h": (0, 12), "K": (0, 11), "k": (0, 24),
    "H": (0, 24), "m": (0, 59), "s": (0, 59), "A": (0, 86_399_999),
}  # fmt: skip
_PLACES = {
    "PST": "America/Los_Angeles", "PDT": "America/Los_Angeles", "MST": "America/Denver",
    "MDT": "America/Denver", "CST": "America/Chicago", "CDT": "America/Chicago",
    "EST": "America/New_York", "EDT": "America/New_York", "CEST": "Europe/Paris",
    "CET": "Europe/Paris", "BST": "Europe/London",
}  # fmt: skip


class ReadFields:
    """Numbers by the letters of a pattern, and a zone."""

    def __init__(self) -> None:
        self._fields: dict[str, int] = {}
        self._zone: dt.tzinfo | None = None

    def take(self, part: Letters, text: str) -> None:
        """Take what was read for a part of the pattern; raises ValueError."""
        letter, number = part.letter, 0
        if letter in "XxZ":
            self._zone = zone("Z" if text.upper() in ("Z", "GMT") else text.removeprefix("GMT"))
            return
        if letter in "Vz":
            self._zone = zone(_PLACES.get(text.upper(), text) if letter == "z" else text)
            return
        if letter == "S":
            letter, number = "n", int(text.ljust(9, "0"))
        elif letter == "a":
            number = int(text.upper() == "PM")
        elif letter == "G":
            number = int(text.upper().startswith("A"))
        elif letter == "E":
            number = _index(DAYS, text)
        elif letter in "ML":
            letter, number = "M", (int(text) if text.isdecimal() else _index(MONTHS, text) + 1)
        else:
            number = int(text)
            if letter in "yu" and part.count == 2:
                number += 2000
        self._keep(letter, number)

    def _keep(self, letter: str, number: int) -> None:
        if letter == "y" and number < 1:
            raise ValueError("years of an era begin with 1")
        low, high = _RANGES.get(letter, (number, number))
        if not low <= number <= high or self._fields.get(letter, number) != number:
            raise ValueError(f"{number} is not possible for {letter}")
        self._fields[letter] = number

    def moment(self, otherwise: dt.tzinfo) -> dt.datetime:
        """Return the time; what was not read is the beginning of 1970."""
        time, days = self._time()
        date, is_whole = self._date()
        weekday = self._fields.get("E")
        if is_whole and weekday is not None and date.weekday() != weekday:
            raise ValueError("that day is another one of the week")
        if is_whole:
            date += dt.timedelta(days=days)
        at = self._zone or otherwise
        return dt.datetime.combine(date, time, at)

    def _date(self) -> tuple[dt.date, bool]:
        """Return the date, and whether it was all read."""
        fields = self._fields
        year = fields.get("u", fields.get("y"))
        if "G" in fields and fields["G"] == 0 and "y" in fields:
            raise ValueError("there are no years before the first")
        if "u" in fields and "y" in fields and fields["u"] != fields["y"]:
            raise ValueError("two years")
        if year is not None and "M" in fields and "d" in fields:
            last = calendar.monthrange(year, fields["M"])[1]
            return dt.date(year, fields["M"], min(fields["d"], last)), True
        if "D" in fields:
            date = dt.date(year or 1970, 1, 1) + dt.timedelta(days=fields["D"] - 1)
            if date.year != (year or 1970):
                raise ValueError("the year has no such day")
            return date, year is not None
        return dt.date(
            1970 if year is None else year, fields.get("M", 1), fields.get("d", 1)
        ), False

    def _time(self) -> tuple[dt.time, int]:
        """Return the time of day, and how many days it is more than that."""
        fields = self._fields
        hour, nanos = self._hour(), fields.get("n", 0)
        if "A" in fields:
            return _after_midnight(fields["A"] * 1000), 0
        minute, second = fields.get("m", 0), fields.get("s", 0)
        if hour == 24:
            if minute or second or nanos:
                raise ValueError("a day has 24 hours")
            return dt.time(), 1
        # Java looks at parts of a second only where all that is more was read.
        is_whole = hour is not None and (
            "m" in fields if "s" in fields else "n" not in fields or "m" not in fields
        )
        if "n" in fields and ("m" not in fields or "s" not in fields):
            is_whole = False
        micros = nanos // 1000 if is_whole else 0
        return dt.time(hour or 0, minute, second, micros), 0

    def _hour(self) -> int | None:
        fields = self._fields
        half = fields.get("a")
        if "k" in fields:
            return fields["k"] % 24
        if "H" in fields:
            if half is not None and fields["H"] // 12 != half:
                raise ValueError("that hour is in the other half of the day")
            return fields["H"]
        within = fields.get("K", fields["h"] % 12 if "h" in fields else None)
        return within + 12 * half if within is not None and half is not None else None


def _index(names: tuple[str, ...], text: str) -> int:
    return [name[:3].lower() for name in names].index(text[:3].lower())


def _after_midnight(micros: int) -> dt.time:
    return (EPOCH + dt.timedelta(microseconds=micros)).time()
