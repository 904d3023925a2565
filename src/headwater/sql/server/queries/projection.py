"""A query over one source, computed row by row in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from headwater.sql.analysis.query.analysed import ReadSource
from headwater.sql.errors import SqlError
from headwater.sql.server.rows.computation import computation
from headwater.sql.server.rows.formats import MalformedError
from headwater.sql.server.rows.records import RecordReader
from headwater.sql.server.rows.shown import shown
from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from headwater.serde import SchemaRegistryClient
    from headwater.sql.analysis.query.analysed import AnalysedQuery
    from headwater.sql.metastore.source import DataSource
    from headwater.sql.server.rows.records import Record
    from headwater.sql.server.rows.row import Row
    from headwater.sql.types.sql_type import SqlType

OnMalformed: TypeAlias = "Callable[[Record, MalformedError], None]"
"""Is told of a record that is left out."""


class Projection:
    """SELECT columns FROM one source WHERE ...; raises SqlError for what is more than that."""

    def __init__(self, query: AnalysedQuery) -> None:
        if not isinstance(query.relation, ReadSource):
            raise SqlError("a join needs a query that is stored, or EMIT CHANGES")
        if query.group_by or query.aggregates or query.having is not None:
            raise SqlError("GROUP BY needs a query that is stored, or EMIT CHANGES")
        self.alias = query.relation.alias
        self.source: DataSource = query.relation.source
        self._selected = [
            (computation(column.value), column.value.type) for column in query.selected
        ]
        self._where = None if query.where is None else computation(query.where)

    def shown(self, row: Row) -> list[Any] | None:
        """Return what a client sees of a row; None for one that the condition leaves out."""
        if self._where is not None and not self._where(row):
            return None
        return [shown(compute(row), type_) for compute, type_ in self._selected]

    def reading(
        self, registry: SchemaRegistryClient | None, on_malformed: OnMalformed
    ) -> ProjectedRecords:
        """Return what makes rows for clients of the source's records."""
        reader = RecordReader(self.source, self.alias, registry)
        return ProjectedRecords(self, reader, on_malformed)


class ProjectedRecords:
    """Turns records into what clients see."""

    def __init__(
        self, projection: Projection, reader: RecordReader, on_malformed: OnMalformed
    ) -> None:
        self._projection = projection
        self._reader = reader
        self._on_malformed = on_malformed
        self._is_stream = projection.source.kind is SourceKind.STREAM

    def rows(self, records: Iterable[Record]) -> Iterator[list[Any]]:
        """Return rows of records; those without a value are rows of tables alone."""
        for record in records:
            if record.value is None and self._is_stream:
                continue
            try:
                row = self._reader.row(record)
            except MalformedError as malformed:
                self._on_malformed(record, malformed)
                continue
            found = self._projection.shown(row)
            if found is not None:
                yield found


def result_columns(query: AnalysedQuery) -> tuple[tuple[str, SqlType], ...]:
    """Return the names and types of a query's result, in the order of its text."""
    return tuple((column.name, column.value.type) for column in query.selected)
