"""What a store has to know of the table that it follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headwater.plan.formats import Format
    from headwater.plan.schemas.types import DataType


@dataclass(frozen=True)
class Side:
    """How a topic's keys or values are written, and what they are."""

    format: Format
    type: DataType


@dataclass(frozen=True)
class FollowedTable:
    """A table as a topic: each record sets the value of its key, null deletes it.

    The keys of a windowed table are structs of `key`, `window_start` and `window_end`. `batches` is
    the topic in which the program that writes the table says how far its batches reach, see
    batches.py; where there is none, each record is a change of its own.
    """

    name: str
    topic: str
    key: Side
    value: Side
    windowed: bool = False
    batches: str | None = None
