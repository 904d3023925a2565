"""What is new in a table: the SQL that asks for it, and for the rows up to there.

A poll first asks for the last row that it will take. Tasks then read from the last offset up to
that row, so that they read the same rows however often they are run, and whatever is added
meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from headwater.connect.connectors.jdbc.offset import TableOffset

if TYPE_CHECKING:
    from headwater.connect.connectors.jdbc.dialects.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Progress:
    """How a table's rows are told apart from those that were read: by number, by time, or both.

    `number` and `time` are SQL; `zone` is that of the times.
    """

    dialect: Dialect
    source: str
    number: str | None
    time: str | None
    zone: tzinfo = UTC

    def last(self, after: TableOffset | None, before: datetime | None) -> str:
        """Return the query for the last row after an offset; its times are before `before`."""
        return f"{self._select(after, before)}{self._order(' DESC')} LIMIT 1"

    def nth(self, after: TableOffset | None, upto: TableOffset, count: int) -> str:
        """Return the query for the row that is the last of so many after an offset."""
        where = self._where(self._after(after), self._upto(upto))
        return f"SELECT {self._columns()} FROM {self.source}{where}{self._order('')} " + (
            f"LIMIT 1 OFFSET {count - 1}"
        )

    def first_number(self, upto: TableOffset) -> str:
        """Return the query for the smallest number."""
        return f"SELECT MIN({self.number}) FROM {self.source}{self._where(self._upto(upto))}"

    def rows(self, columns: str, after: TableOffset | None, upto: TableOffset, suffix: str) -> str:
        """Return the query for all rows after an offset up to another, in their order."""
        where = self._where(self._after(after), self._upto(upto))
        return f"SELECT {columns} FROM {self.source}{where}{self._order('')}{suffix}"

    def read(self, row: list[str | None]) -> TableOffset | None:
        """Return the offset of the row that `last` or `nth` has found."""
        values = list(row)
        moment = None
        if self.time is not None:
            text = values.pop(0)
            if text is None:
                return None
            found = datetime.fromisoformat(text)
            moment = (found if found.tzinfo else found.replace(tzinfo=self.zone)).astimezone(UTC)
        number = None
        if self.number is not None:
            text = values.pop(0)
            if text is None:
                return None
            number = int(text)
        return TableOffset(number, moment)

    def _select(self, after: TableOffset | None, before: datetime | None) -> str:
        limits = [self._after(after)]
        if self.time is not None:
            limits.append(f"{self._time()} IS NOT NULL")
            if before is not None:
                limits.append(f"{self._time()} < {self._moment(before)}")
        if self.number is not None and self.time is None:
            limits.append(f"{self.number} IS NOT NULL")
        return f"SELECT {self._columns()} FROM {self.source}{self._where(*limits)}"

    def _columns(self) -> str:
        return ", ".join(each for each in (self.time and self._time(), self.number) if each)

    def _order(self, direction: str) -> str:
        order = [f"{each}{direction}" for each in (self.time and self._time(), self.number) if each]
        return f" ORDER BY {', '.join(order)}"

    def _after(self, offset: TableOffset | None) -> str | None:
        if offset is None:
            return None
        number, time = offset.incrementing, offset.timestamp
        if self.time is None:
            return None if number is None else f"{self.number} > {number}"
        if time is None:
            return None
        moment = self._moment(time)
        if self.number is None or number is None:
            return f"{self._time()} > {moment}"
        return (
            f"({self._time()} > {moment} OR "
            f"({self._time()} = {moment} AND {self.number} > {number}))"
        )

    def _upto(self, offset: TableOffset) -> str:
        if offset.timestamp is None:
            return f"{self.number} <= {offset.incrementing}"
        moment = self._moment(offset.timestamp)
        if self.number is None:
            return f"{self._time()} <= {moment}"
        return (
            f"({self._time()} < {moment} OR "
            f"({self._time()} = {moment} AND {self.number} <= {offset.incrementing}))"
        )

    def _time(self) -> str:
        return self.dialect.moment(self.time or "")

    def _moment(self, moment: datetime) -> str:
        wall = moment.astimezone(self.zone).replace(tzinfo=None)
        return self.dialect.moment_literal(wall.isoformat(" ", "microseconds"))

    @staticmethod
    def _where(*limits: str | None) -> str:
        given = [limit for limit in limits if limit]
        return f" WHERE {' AND '.join(given)}" if given else ""
