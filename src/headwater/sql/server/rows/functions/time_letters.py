"""What each letter of a time pattern writes and reads, as Java's DateTimeFormatter has it."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.server.rows.functions.zones import (
    name_of,
    offset_of,
    offset_text,
    short_name_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HALVES = ("AM", "PM")
ERAS = ("BC", "AD")
_QUARTERS = ("1st quarter", "2nd quarter", "3rd quarter", "4th quarter")

NUMBERS: dict[str, Callable[[dt.datetime], int]] = {
    "u": lambda at: at.year,
    "y": lambda at: at.year,
    "D": lambda at: at.timetuple().tm_yday,
    "M": lambda at: at.month,
    "L": lambda at: at.month,
    "d": lambda at: at.day,
    "Q": lambda at: (at.month + 2) // 3,
    "q": lambda at: (at.month + 2) // 3,
    "Y": lambda at: _week(at)[0],
    "w": lambda at: _week(at)[1],
    "W": lambda at: (at.day + (at.replace(day=1).weekday() + 1) % 7 - 1) // 7 + 1,
    "F": lambda at: (at.day - 1) % 7 + 1,
    "e": lambda at: (at.weekday() + 1) % 7 + 1,
    "c": lambda at: (at.weekday() + 1) % 7 + 1,
    "h": lambda at: (at.hour + 11) % 12 + 1,
    "K": lambda at: at.hour % 12,
    "k": lambda at: (at.hour + 23) % 24 + 1,
    "H": lambda at: at.hour,
    "m": lambda at: at.minute,
    "s": lambda at: at.second,
    "A": lambda at: _micros(at) // 1000,
    "n": lambda at: at.microsecond * 1000,
    "N": lambda at: _micros(at) * 1000,
}

# How many letters stand for a number; more are a text, or are refused.
_MOST = dict.fromkeys("dhHkKmsw", 2) | dict.fromkeys("MLQqec", 2) | {"D": 3, "W": 1, "F": 1}
_TEXTS = frozenset("GMLQqEeca")
_OFFSETS = {"X": (1, 2, 3, 4, 5), "x": (1, 2, 3, 4, 5), "Z": (1, 2, 3, 4, 5), "O": (1, 4)}
_READ_OFFSETS = {
    1: r"[+-]\d\d(?:\d\d)?",
    2: r"[+-]\d{4}",
    3: r"[+-]\d\d:\d\d",
    4: r"[+-]\d{4}(?:\d\d)?",
    5: r"[+-]\d\d:\d\d(?::\d\d)?",
}
_ONLY_WRITTEN = frozenset("YwWFcenNqQO")


@dataclass(frozen=True)
class Letters:
    """One letter, so many times."""

    letter: str
    count: int

    def __post_init__(self) -> None:
        if self.letter == "z" and self.count == 4:
            raise SqlError("the long names of time zones (zzzz) need a query that is stored")
        if not self._is_known():
            raise ValueError(f"{self.letter * self.count} is no part of a pattern")

    def _is_known(self) -> bool:
        letter, count = self.letter, self.count
        if letter in _OFFSETS:
            return count in _OFFSETS[letter]
        if letter == "V":
            return count == 2
        if letter == "z":
            return count <= 4
        if letter == "a":
            return count == 1
        if letter in _TEXTS and count <= 5:
            return True
        if letter in NUMBERS:
            return count <= _MOST.get(letter, 19)
        return letter == "S" and count <= 9

    @property
    def _is_text(self) -> bool:
        return self.letter in "GEa" or (self.letter in _TEXTS and self.count > 2)

    def text(self, at: dt.datetime) -> str:
        """Return what is written of a time."""
        letter, count = self.letter, self.count
        if self._is_text:
            return self._name(at)
        if letter in _OFFSETS:
            return offset_text(offset_of(at), letter * count)
        if letter == "V":
            return name_of(at)
        if letter == "z":
            return short_name_of(at)
        if letter == "S":
            return f"{at.microsecond * 1000:09d}"[:count]
        number = NUMBERS[letter](at)
        if letter in "yuY" and count == 2:
            number %= 100
        return f"{number:0{count}d}"

    def _name(self, at: dt.datetime) -> str:
        letter, count = self.letter, self.count
        if letter == "a":
            return HALVES[at.hour // 12]
        if letter == "G":
            return {4: "Anno Domini", 5: "A"}.get(count, "AD")
        if letter in "Qq":
            quarter = (at.month + 2) // 3
            return {3: f"Q{quarter}", 4: _QUARTERS[quarter - 1]}.get(count, str(quarter))
        name = MONTHS[at.month - 1] if letter in "ML" else DAYS[at.weekday()]
        return {4: name, 5: name[0]}.get(count, name[:3])

    def pattern(self) -> str:
        """Return the regular expression of what is read."""
        letter, count = self.letter, self.count
        if letter in _ONLY_WRITTEN:
            raise SqlError(f"{letter} in a pattern is only read by a query that is stored")
        if self._is_text:
            return self._names()
        if letter in _OFFSETS:
            mark = "Z|" if letter == "X" or count == 5 else ""
            if letter == "Z":
                count = {4: 3, 5: 5}.get(count, 2)
                mark += "GMT|" if self.count == 4 else ""
            prefix = "GMT" if letter * self.count == "ZZZZ" else ""
            return f"(?:{mark}{prefix}{_READ_OFFSETS[count]})"
        if letter in "Vz":
            return r"[A-Za-z0-9_/+\-:]+"
        if letter in "yu":
            minus = "-" if letter == "u" else "(?!)"
            if count == 2:
                return r"\d{2}"
            if count < 4:
                return rf"{minus}?\d{{{count},19}}" if letter == "u" else rf"\d{{{count},19}}"
            longer = rf"\+\d{{{count + 1},19}}|{minus}\d{{{count},19}}"
            return rf"(?:\d{{{count}}}|{longer})"
        if letter == "S" or count > 1:
            return rf"\d{{{count}}}" if letter != "D" or count == 3 else r"\d{2,3}"
        return r"\d{1,19}"

    def _names(self) -> str:
        if self.letter == "a":
            names: tuple[str, ...] = HALVES
        elif self.letter == "G":
            names = ("Before Christ", "Anno Domini") if self.count == 4 else ERAS
        else:
            names = MONTHS if self.letter in "ML" else DAYS
            names = names if self.count == 4 else tuple(name[:3] for name in names)
        if self.count == 5:
            raise SqlError(f"{self.letter * 5} in a pattern is only read by a stored query")
        return "(?:" + "|".join(map(re.escape, names)) + ")"


def _micros(at: dt.datetime) -> int:
    return ((at.hour * 60 + at.minute) * 60 + at.second) * 1_000_000 + at.microsecond


def _week(at: dt.datetime) -> tuple[int, int]:
    """Return the year and number of a week that begins with Sunday; the first has 1 January."""
    year = at.year
    sunday = at.date() - dt.timedelta(days=(at.weekday() + 1) % 7)
    if (sunday + dt.timedelta(days=6)).year > year:
        year += 1
    new_year = dt.date(year, 1, 1)
    first = new_year - dt.timedelta(days=(new_year.weekday() + 1) % 7)
    return year, (sunday - first).days // 7 + 1
