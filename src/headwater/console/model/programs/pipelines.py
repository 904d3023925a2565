"""All that moves records: programs, queries of SQL and connectors, in one list."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from headwater.clients.errors import ClientError
from headwater.console.model.paging import Page, Wanted, page_of

if TYPE_CHECKING:
    from headwater.console.model.connect.connect import Connect, Connector
    from headwater.console.model.programs.programs import Program, Programs
    from headwater.console.model.sql.sql import Entity, Sql

PROGRAM, QUERY, CONNECTOR = "program", "SQL query", "connector"


class Pipeline(NamedTuple):
    """One of them, in a list."""

    name: str
    kind: str
    place: tuple[str, ...]
    """Where the console shows it."""
    state: str
    road: str
    rows_per_s: float | None
    lag: int | None
    state_rows: int | None
    host: str
    error: str


class Pipelines:
    """All methods block. A service that does not answer has nothing in the list."""

    def __init__(self, programs: Programs, sql: Sql | None, connect: Connect | None) -> None:
        self._programs = programs
        self._sql = sql
        self._connect = connect

    def page(self, wanted: Wanted) -> Page[Pipeline]:
        """Return a page of the list; raises ClientError where the cluster does not answer."""
        found = [_of_program(each) for each in self._programs.all()]
        known = {each.name for each in found}
        found += [each for each in self._queries() if each.name not in known]
        found += self._connectors()
        columns = {
            "name": lambda each: each.name,
            "kind": lambda each: each.kind,
            "state": lambda each: each.state,
            "rate": lambda each: each.rows_per_s,
            "lag": lambda each: each.lag,
            "rows": lambda each: each.state_rows,
        }
        return page_of(found, wanted, lambda each: each.name, columns)

    def _queries(self) -> list[Pipeline]:
        """Return queries whose server does not tell how they do, such as ksqlDB's."""
        try:
            return [] if self._sql is None else [_of_query(each) for each in self._sql.queries()]
        except ClientError:
            return []

    def _connectors(self) -> list[Pipeline]:
        try:
            listed = [] if self._connect is None else self._connect.all()
        except ClientError:
            return []
        return [_of_connector(each) for each in listed]


def _of_program(each: Program) -> Pipeline:
    is_query = each.owner == "sql"
    return Pipeline(
        each.query_id if is_query else each.name,
        QUERY if is_query else PROGRAM,
        ("pipelines", each.owner, each.name),
        each.state,
        ", ".join(each.roads),
        each.rows_per_s,
        each.lag,
        each.state_rows,
        each.host,
        each.error,
    )


def _of_query(each: Entity) -> Pipeline:
    name, state = str(each["id"]), str(each.get("state") or "").lower()
    place = ("sql", "queries", name)
    return Pipeline(name, QUERY, place, state, "", None, None, None, "", "")


def _of_connector(each: Connector) -> Pipeline:
    lag = each.progress.get("lag")
    return Pipeline(
        each.name,
        CONNECTOR,
        ("connect", "connectors", each.name),
        each.health.lower(),
        "",
        None,
        lag if isinstance(lag, int) else None,
        None,
        each.worker,
        each.error,
    )
