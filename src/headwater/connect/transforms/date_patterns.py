"""Patterns of dates: those of Java's SimpleDateFormat as Spark reads them."""

from __future__ import annotations

import re

from headwater.config import Validator

_LETTERS = frozenset("GyMdDEaHkKhmsSzZX")
_QUOTED = re.compile(r"'(?:[^']|'')*'")


def wrong_letters(pattern: str) -> list[str]:
    """Return the letters of a pattern that have no meaning here.

    >>> wrong_letters("yyyy-MM-dd'T'HH:mm:ss.SSSX"), wrong_letters("YYYY-ww")
    ([], ['Y', 'w'])
    """
    plain = _QUOTED.sub("", pattern)
    return sorted({letter for letter in plain if letter.isascii() and letter.isalpha()} - _LETTERS)


def _is_pattern(pattern: str | None) -> bool:
    return not pattern or (pattern.count("'") % 2 == 0 and not wrong_letters(pattern))


DATE_PATTERN = Validator(
    f"a pattern of SimpleDateFormat with the letters {''.join(sorted(_LETTERS))}; other text "
    "stands in single quotes",
    _is_pattern,
)
