"""How far a table was read, in the format of Confluent's connector."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from headwater.connect.connectors.connector import ConnectorError

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class TableOffset:
    """The last row that was read: its number, its time, or both.

    >>> TableOffset(7, datetime(2026, 1, 1, 0, 0, 0, 1500, UTC)).as_map()
    {'incrementing': 7, 'timestamp': 1767225600001, 'timestamp_nanos': 1500000}
    """

    incrementing: int | None = None
    timestamp: datetime | None = None

    @classmethod
    def of(cls, stored: Mapping[str, object]) -> TableOffset:
        """Read what was stored; raises ConnectorError."""
        try:
            number, millis = (_integer(stored.get(key)) for key in ("incrementing", "timestamp"))
            nanos = _integer(stored.get("timestamp_nanos"))
        except ValueError as failure:
            raise ConnectorError(f"the stored offset {dict(stored)} is wrong: {failure}") from None
        return cls(number, None if millis is None else _moment(millis, nanos))

    def as_map(self) -> dict[str, object]:
        """Return it as it is stored."""
        found: dict[str, object] = {}
        if self.incrementing is not None:
            found["incrementing"] = self.incrementing
        if self.timestamp is not None:
            found["timestamp"] = (self.timestamp - _EPOCH) // timedelta(milliseconds=1)
            found["timestamp_nanos"] = self.timestamp.microsecond * 1000
        return found


def _integer(value: object) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise ValueError(f"{value!r} is no whole number")


def _moment(millis: int, nanos: int | None) -> datetime:
    moment = _EPOCH + timedelta(milliseconds=millis)
    return moment if nanos is None else moment.replace(microsecond=nanos // 1000)
