"""What a check found: whether it is well, what it saw, and what to do."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    NOTE = "note"
    """Something is not there, and need not be."""
    WARNING = "warning"
    PROBLEM = "problem"


class Finding(NamedTuple):
    """One thing that was looked at."""

    area: str
    level: Level
    what: str
    advice: str = ""
    """What to do; nothing where it is well."""
