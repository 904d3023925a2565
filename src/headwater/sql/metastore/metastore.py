"""What there is at a moment: streams, tables and named types."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.location import NOWHERE, Location

if TYPE_CHECKING:
    from headwater.sql.metastore.source import DataSource
    from headwater.sql.types.sql_type import SqlType


@dataclass
class Metastore:
    """Streams and tables by name, and the types of CREATE TYPE.

    >>> store = Metastore()
    >>> store.find("ORDERS") is None
    True
    """

    sources: dict[str, DataSource] = field(default_factory=dict)
    types: dict[str, SqlType] = field(default_factory=dict)

    def find(self, name: str) -> DataSource | None:
        """Return the source of this name, or None; capitals matter."""
        return self.sources.get(name)

    def source(self, name: str, location: Location = NOWHERE) -> DataSource:
        """Return the source of this name; refuse one that is not there with the nearest name."""
        found = self.sources.get(name)
        if found is None:
            raise SqlError(f"there is no stream or table {name}{self._hint(name)}", location)
        return found

    def put(self, source: DataSource) -> None:
        """Add a source, or replace the one of its name."""
        self.sources[source.name] = source

    def drop(self, name: str) -> None:
        """Forget a source."""
        del self.sources[name]

    def _hint(self, name: str) -> str:
        other_case = next((known for known in self.sources if known.upper() == name.upper()), None)
        if other_case is not None:
            return f"; did you mean `{other_case}`, in backticks?"
        close = difflib.get_close_matches(name, self.sources, n=1)
        return f"; did you mean {close[0]}?" if close else "; SHOW STREAMS and SHOW TABLES list all"
