"""Windows of tables as DataFrames: rows of one shape go together, for as many tasks as may be.

The queries run in the tasks, when somebody needs the rows; here nothing is read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import SourceOffset, SourcePartition, SourceRows
from headwater.connect.connectors.jdbc.errors import database_errors
from headwater.connect.data.shape import Shape
from headwater.connect.data.spark_types import ddl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyspark.sql import SparkSession

    from headwater.connect.connectors.jdbc.column_types import Columns
    from headwater.connect.connectors.jdbc.database import Database


@dataclass(frozen=True)
class Window:
    """The rows of a table from one offset to another: what a poll takes.

    `queries` together give its rows; each may run in a task of its own.
    """

    columns: Columns
    topic: str
    queries: tuple[str, ...]
    offset: tuple[SourcePartition, SourceOffset] | None


class WindowReader:
    """Makes DataFrames of windows."""

    def __init__(
        self, session: SparkSession, database: Database, *, tasks: int, fetch_size: int
    ) -> None:
        self._session = session
        self._database = database
        self._tasks = tasks
        self._fetch_size = fetch_size

    def read(self, windows: Iterable[Window]) -> list[SourceRows]:
        """Return the rows of all windows, those of one shape together, for as many tasks as may be.

        All rows of a frame are one transaction, and so are those of a table.
        """
        by_shape: dict[object, list[Window]] = {}
        for window in windows:
            # The schema's name is the table's; rows of tables with other names go elsewhere.
            shape = (repr(window.columns.schema), window.columns.kinds)
            by_shape.setdefault(shape, []).append(window)
        return [
            self._together(same[start :: self._tasks])
            for same in by_shape.values()
            for start in range(min(self._tasks, len(same)))
        ]

    def _together(self, windows: Sequence[Window]) -> SourceRows:
        # The parts of one table may be read side by side; tables are read one after the other.
        alone = len(windows) == 1
        queries = [(query, window.topic) for window in windows for query in window.queries]
        tasks = [[query] for query in queries] if alone else [queries]
        columns = windows[0].columns
        return SourceRows(
            self._frame(tasks, columns),
            Shape(key=None, value=columns.schema),
            tuple(window.offset for window in windows if window.offset is not None),
            # A table that is read as a whole may have no rows.
            frozenset(window.topic for window in windows)
            if all(window.offset is not None for window in windows)
            else None,
        )

    def _frame(self, tasks: list[list[tuple[str, str]]], columns: Columns) -> Any:
        from pyspark.sql import DataFrame

        jvm: Any = self._session.sparkContext._jvm  # noqa: SLF001 - PySpark has no other door
        jdbc = jvm.io.headwater.jdbc
        with database_errors("the rows cannot be read"):
            reader = jdbc.TableReader(
                self._database.java,
                json.dumps(tasks),
                list(columns.kinds),
                self._fetch_size,
            )
            schema = f"topic STRING, value {ddl(columns.schema)}"
            java = reader.read(self._session._jsparkSession, schema)  # noqa: SLF001
        return DataFrame(java, self._session)
