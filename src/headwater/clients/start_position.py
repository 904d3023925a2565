"""Where consuming starts: the beginning, the end, an offset, so many before the end, or a time."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from headwater.clients.points_in_time import parse_time

if TYPE_CHECKING:
    from headwater.clients.connection import Connection


class InvalidPositionError(ValueError):
    """No position can be read from a text; the message says which there are."""


class Span(NamedTuple):
    """The offsets of one partition that matter now: its first, the chosen start, and its end."""

    first: int
    start: int
    end: int


class StartPosition(NamedTuple):
    """A start as the user gave it, before the partitions are known."""

    kind: Literal["earliest", "latest", "offset", "before-end", "time"]
    number: int = 0

    @classmethod
    def parse(cls, text: str) -> StartPosition:
        """Read earliest, latest, 42, -10, @EPOCH_MS, an ISO date or how long ago (15m, 2h).

        Raises InvalidPositionError.
        """
        if text in ("earliest", "beginning"):
            return cls("earliest")
        if text in ("latest", "end"):
            return cls("latest")
        if re.fullmatch(r"\d+", text):
            return cls("offset", int(text))
        if re.fullmatch(r"-\d+", text):
            return cls("before-end", int(text[1:]))
        try:
            return cls("time", parse_time(text.removeprefix("@"), int(time.time() * 1000)))
        except ValueError:
            raise InvalidPositionError(
                f"'{text}' is no position: give earliest, latest, an offset (42), so many before "
                "the end (-10), or a time (@1767225600000, 2026-01-01T00:00:00Z, 15m for 15 "
                "minutes ago)"
            ) from None

    def resolve(self, connection: Connection, topic: str, partitions: list[int]) -> dict[int, Span]:
        """Ask the cluster what the position means for each partition; always within the log."""
        from confluent_kafka.admin import OffsetSpec

        asked = [(topic, partition) for partition in partitions]
        firsts = connection.offsets(asked, OffsetSpec.earliest())
        ends = connection.offsets(asked, OffsetSpec.latest())
        by_time = (
            connection.offsets(asked, OffsetSpec.for_timestamp(self.number))
            if self.kind == "time"
            else {}
        )
        spans: dict[int, Span] = {}
        for key in asked:
            first, end = firsts[key], ends[key]
            start = {
                "earliest": first,
                "latest": end,
                "offset": self.number,
                "before-end": end - self.number,
                # No record is that young: what comes next is.
                "time": end if by_time.get(key, -1) < 0 else by_time.get(key, -1),
            }[self.kind]
            spans[key[1]] = Span(first, min(max(start, first), end), end)
        return spans
