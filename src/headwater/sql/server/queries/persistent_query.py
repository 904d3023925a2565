"""Queries that run for ever: what each of them is, and what becomes of its plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from headwater.sql.analysis.query.analysed import sources_of
from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.sql.analysis.outcomes import StoreQuery


@dataclass(frozen=True)
class PersistentQuery:
    """A query whose rows go to a topic; `statement` is what made it."""

    id: str
    statement: str
    stored: StoreQuery
    properties: Mapping[str, str] = field(default_factory=dict)
    is_paused: bool = False
    # Counts the statements that replaced it: the job of an older one is another job.
    version: int = 0

    @property
    def sink(self) -> str:
        """The stream or table that it fills."""
        return self.stored.sink.name

    @property
    def reads(self) -> tuple[str, ...]:
        """The streams and tables that it reads."""
        return tuple(read.source.name for read in sources_of(self.stored.query.relation))

    @property
    def makes_sink(self) -> bool:
        """Whether its statement made the sink, rather than INSERT INTO."""
        return self.stored.is_new

    def paused(self, is_paused: bool) -> PersistentQuery:
        """Return the query paused, or not."""
        return replace(self, is_paused=is_paused)


def query_id(stored: StoreQuery, number: int) -> str:
    """Return the id of a query that the command of this number made, as ksqlDB forms it."""
    if not stored.is_new:
        return f"INSERTQUERY_{number}"
    word = "CSAS" if stored.sink.kind is SourceKind.STREAM else "CTAS"
    return f"{word}_{stored.sink.name}_{number}"
