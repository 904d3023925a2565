"""A record as a test gives it to a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True)
class GivenRecord:
    """Bytes, and where and when they were written."""

    topic: str
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: datetime
    headers: tuple[tuple[str, bytes | None], ...] = ()
