"""Up to where a sink has written, in a table of the database itself.

It is changed in the transactions that write the rows, so that both are there or neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.connect.connectors.connector import TopicPartition
    from headwater.connect.connectors.jdbc.database import Database


class OffsetsTable:
    """The positions of one connector."""

    def __init__(self, database: Database, name: str, connector: str) -> None:
        self._database = database
        dialect = database.dialect
        self._table = ".".join(map(dialect.quoted, name.split(".")))
        self._connector = dialect.literal(connector)
        self._columns = tuple(map(dialect.quoted, ("connector", "topic", "partition", "position")))
        self._known: set[TopicPartition] = set()

    def create(self) -> None:
        """Create the table unless it is there."""
        connector, topic, partition, position = self._columns
        self._database.execute(
            [
                f"CREATE TABLE IF NOT EXISTS {self._table} ("
                f"{connector} VARCHAR(255) NOT NULL, {topic} VARCHAR(249) NOT NULL, "
                f"{partition} INTEGER NOT NULL, {position} BIGINT NOT NULL, "
                f"PRIMARY KEY ({connector}, {topic}, {partition}))"
            ]
        )

    def expect(self, partitions: Iterable[TopicPartition]) -> None:
        """See to it that each has a row, which a transaction can lock."""
        self.move({each: 0 for each in partitions if each not in self._known}, only_new=True)

    def move(self, positions: Mapping[TopicPartition, int], *, only_new: bool = False) -> None:
        """Set positions, or only those that have none."""
        if not positions:
            return
        connector, topic, partition, position = self._columns
        mine = f"{connector} = {self._connector}"
        found = self._database.rows(f"SELECT {topic}, {partition} FROM {self._table} WHERE {mine}")
        there = {(name, int(number or 0)) for name, number in found}
        statements = []
        for each, at in positions.items():
            name = self._database.dialect.literal(each.topic)
            if each not in there:
                statements.append(
                    f"INSERT INTO {self._table} ({', '.join(self._columns)}) "
                    f"VALUES ({self._connector}, {name}, {each.partition}, {at})"
                )
            elif not only_new:
                statements.append(
                    f"UPDATE {self._table} SET {position} = {at} WHERE {mine} "
                    f"AND {topic} = {name} AND {partition} = {each.partition}"
                )
        self._database.execute(statements)
        self._known |= set(positions)

    def statements(self, jdbc: Any) -> Any:
        """Return how tasks read and write a position, for the JVM."""
        connector, topic, partition, position = self._columns
        where = f"WHERE {connector} = {self._connector} AND {topic} = ? AND {partition} = ?"
        return jdbc.BatchWriter.Offsets(
            f"SELECT {position} FROM {self._table} {where}{self._database.dialect.locks}",
            f"UPDATE {self._table} SET {position} = ? {where}",
        )
