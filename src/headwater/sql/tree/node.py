"""What every part of a statement has: the place in the text where it begins."""

from __future__ import annotations

from dataclasses import dataclass, field

from headwater.sql.location import NOWHERE, Location


@dataclass(frozen=True)
class Node:
    """A part of a statement. Two are equal if they say the same, wherever they stand."""

    location: Location = field(default=NOWHERE, compare=False, repr=False, kw_only=True)
