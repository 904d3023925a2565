"""How much work a comparison may be: what goes beyond is refused, whatever sent it."""

from __future__ import annotations

from headwater.registry.formats.base import InvalidSchemaError

# Some seconds of a thread, and some ten megabytes, on any machine. The largest schemas that people
# write by hand need a hundredth of it.
UNITS = 500_000

# Where one part is used in many places, each place has its differences. Nobody reads so many.
MOST_DIFFERENCES = 2_000


class Effort:
    """Counts the work of one comparison: a unit is a pair of types, or a difference noted."""

    __slots__ = ("_left",)

    def __init__(self, units: int = UNITS) -> None:
        self._left = units

    def spend(self, units: int = 1) -> None:
        """Do so much more; raises InvalidSchemaError if that is too much."""
        self._left -= units
        if self._left < 0:
            raise InvalidSchemaError(
                "comparing it with an earlier version is too much work: too many of its types "
                "refer to, or stand in unions with, too many others. Split it, or set the "
                "subject's compatibility to NONE for this one registration"
            )
