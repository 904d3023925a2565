"""Which answers are worth another try."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

_RANGE = re.compile(r"(\d{3})(?:(-)(\d{3})?)?")
_LAST = 599


@dataclass(frozen=True)
class StatusCodes:
    """Ranges of status codes."""

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def read(cls, text: str) -> Self:
        """Read codes and ranges, as Confluent's connector writes them; raises ValueError.

        >>> codes = StatusCodes.read("408, 500-")
        >>> [503 in codes, 408 in codes, 404 in codes]
        [True, True, False]
        >>> StatusCodes.read("5xx")
        Traceback (most recent call last):
        ...
        ValueError: 5xx is no status code or range of them, such as 429 or 500-599 or 500-
        """
        return cls(tuple(_range(part.strip()) for part in text.split(",")))

    def __contains__(self, code: int) -> bool:
        return any(first <= code <= last for first, last in self.ranges)


def _range(text: str) -> tuple[int, int]:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text} is no status code or range of them, such as 429 or 500-599 or 500-"
        )
    first = int(found[1])
    return first, int(found[3]) if found[3] else _LAST if found[2] else first
