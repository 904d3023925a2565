"""The stored queries of a session as one plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.plan import Plan, ProgramSettings
from headwater.sql.planning.numbering import Numbering
from headwater.sql.planning.queries import plan_query

if TYPE_CHECKING:
    from collections.abc import Iterable

    from headwater.sql.analysis.outcomes import StoreQuery


def plan_queries(
    name: str, queries: Iterable[StoreQuery], settings: ProgramSettings | None = None
) -> Plan:
    """Return a plan of queries, each of which fills its sink's topic."""
    numbering = Numbering()
    sinks = []
    for stored in queries:
        numbering.location = stored.sink.name
        sinks.append(plan_query(stored, numbering))
    return Plan(name, tuple(sinks), settings or ProgramSettings())
