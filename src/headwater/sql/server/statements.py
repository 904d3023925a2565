"""Statements of a request, one after the other, and the entities that answer them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from headwater.sql.analysis.outcomes import InsertRow, PushQuery, StoreQuery
from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import ParsedStatement, parse
from headwater.sql.server.assertions import asserted
from headwater.sql.server.commands.changes import Trial, is_change, run_change
from headwater.sql.server.connect_cluster import CONNECTOR_LISTINGS
from headwater.sql.server.entities import descriptions, listings
from headwater.sql.server.queries.plans import query_plan
from headwater.sql.server.queries.transient_query import transient_query
from headwater.sql.tree.queries import Query
from headwater.sql.tree.statements.assertions import AssertSchema, AssertTopic
from headwater.sql.tree.statements.changes import DropNamed, InsertValues, NamedKind
from headwater.sql.tree.statements.creation import CreateConnector, SourceKind
from headwater.sql.tree.statements.inspection import (
    Describe,
    DescribeAll,
    DescribeConnector,
    Described,
    DescribeFunction,
    ExplainQuery,
    ExplainStatement,
    Listing,
    PrintTopic,
    Show,
)
from headwater.sql.tree.statements.session import (
    DefineVariable,
    SetProperty,
    UndefineVariable,
    UnsetProperty,
)
from headwater.sql.types.errors import TypeMismatchError

if TYPE_CHECKING:
    from headwater.plan.plan import Plan
    from headwater.sql.metastore.source import DataSource
    from headwater.sql.server.entities.listings import Entity
    from headwater.sql.server.server import SqlServer
    from headwater.sql.server.session import Session
    from headwater.sql.server.topics.topics import Topic


class StatementError(Exception):
    """A statement that is refused; nothing of its request was done, or all before it was."""

    def __init__(self, refusal: SqlError, statement: str, *, is_query: bool = False) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal
        self.statement = statement
        self.is_query = is_query


def read(text: str, session: Session) -> list[ParsedStatement]:
    """Read all statements of a request; raises StatementError."""
    try:
        found = list(parse(text, session.variables))
    except SqlError as refusal:
        raise StatementError(refusal, text) from refusal
    for parsed in found:
        if isinstance(parsed.statement, Query | PrintTopic):
            endpoint = SqlError(
                "The following statement types should be issued to the websocket endpoint "
                "'/query': PRINT, SELECT"
            )
            raise StatementError(endpoint, f"{parsed.text};", is_query=True)
    return found


class StatementRunner:
    """Runs the statements of one request."""

    def __init__(self, server: SqlServer, session: Session) -> None:
        self._server = server
        self._engine = server.engine
        self._session = session

    async def run(self, statements: list[ParsedStatement]) -> list[Entity]:
        """Try all, then run all; raises StatementError."""
        if sum(is_change(parsed.statement) for parsed in statements) > 1:
            await self._try(statements)
        entities = []
        for parsed in statements:
            try:
                found = await self.run_one(parsed)
            except (SqlError, TypeMismatchError) as refusal:
                raise _placed(refusal, parsed) from refusal
            if found is not None:
                entities.append(found)
        return entities

    async def _try(self, statements: list[ParsedStatement]) -> None:
        trial = await asyncio.to_thread(Trial.begin, self._server)
        for parsed in statements:
            if is_change(parsed.statement):
                try:
                    await asyncio.to_thread(trial.run, parsed, self._session.properties)
                except (SqlError, TypeMismatchError) as refusal:
                    raise _placed(refusal, parsed) from refusal

    async def run_one(self, parsed: ParsedStatement) -> Entity | None:
        """Run a statement; raises SqlError and TypeMismatchError."""
        statement, text = parsed.statement, parsed.text
        match statement:
            case Show():
                return await self._show(statement, text)
            case Describe(name, extended):
                source = self._engine.metastore.source(name, statement.location)
                topics = await self._topics(extended)
                return descriptions.described(source, self._facts(source, topics), text)
            case DescribeAll(described, extended):
                is_stream = described is Described.STREAMS
                kind = SourceKind.STREAM if is_stream else SourceKind.TABLE
                return await self._describe_all(kind, extended, text)
            case DescribeFunction(name):
                return listings.function(name, text)
            case ExplainQuery(query_id):
                return self._explain_query(query_id, text)
            case ExplainStatement(inner):
                return self._explain(inner, text)
            case SetProperty(name, value):
                self._session.set(name, value)
            case UnsetProperty(name):
                self._session.unset(name)
            case DefineVariable() | UndefineVariable():
                pass  # done while the text was read
            case InsertValues():
                outcome = self._engine.analyse(statement, self._session.properties)
                assert isinstance(outcome, InsertRow)
                await self._server.inserter.insert(outcome)
            case AssertTopic() | AssertSchema():
                return await asserted(self._server, statement, text)
            case CreateConnector() | DescribeConnector() | DropNamed(NamedKind.CONNECTOR):
                return await self._server.connect.run(statement, text)
            case _ if is_change(statement):
                return await run_change(self._server, parsed, self._session.properties)
            case _:
                raise SqlError("the statement is one of the shell, and not of the server")
        return None

    async def _show(self, show: Show, text: str) -> Entity:
        metastore = self._engine.metastore
        match show.listing:
            case Listing.STREAMS | Listing.TABLES:
                is_stream = show.listing is Listing.STREAMS
                kind = SourceKind.STREAM if is_stream else SourceKind.TABLE
                if show.extended:
                    return await self._describe_all(kind, show.extended, text)
                return listings.sources(kind, metastore.sources.values(), text)
            case Listing.TOPICS | Listing.ALL_TOPICS:
                topics = self._server.topics
                found = await asyncio.to_thread(topics.all)
                readers = await asyncio.to_thread(topics.readers) if show.extended else None
                with_internal = show.listing is Listing.ALL_TOPICS
                return listings.topics(
                    found.values(), text, with_internal=with_internal, readers=readers
                )
            case Listing.QUERIES:
                states = [
                    (query, self._server.jobs.state(query))
                    for query in self._engine.queries.values()
                ]
                return listings.queries(states, self._server.push.ids, text)
            case Listing.FUNCTIONS:
                return listings.functions(text)
            case Listing.PROPERTIES:
                of_server = {
                    "ksql.service.id": self._server.config.service_id,
                    **self._server.config.properties,
                }
                return listings.properties(of_server, self._session.properties, text)
            case Listing.TYPES:
                return listings.types(metastore.types, text)
            case Listing.VARIABLES:
                return listings.variables(self._session.variables, text)
            case _:
                assert show.listing in CONNECTOR_LISTINGS
                return await self._server.connect.run(show, text)

    async def _describe_all(self, kind: SourceKind, extended: bool, text: str) -> Entity:
        topics = await self._topics(extended)
        found = [
            (source, self._facts(source, topics))
            for source in self._engine.metastore.sources.values()
            if source.kind is kind
        ]
        return descriptions.all_described(found, text)

    async def _topics(self, extended: bool) -> dict[str, Topic]:
        return await asyncio.to_thread(self._server.topics.all) if extended else {}

    def _facts(self, source: DataSource, topics: dict[str, Topic]) -> descriptions.SourceFacts:
        return descriptions.SourceFacts(
            self._engine.statements.get(source.name, ""),
            self._engine.readers(source.name),
            self._engine.writers(source.name),
            topics.get(source.topic),
        )

    def _explain_query(self, query_id: str, text: str) -> Entity:
        query = self._engine.find_query(query_id)
        facts = descriptions.QueryFacts(
            query.id,
            query.statement,
            (query.sink,),
            "PERSISTENT",
            self._server.jobs.state(query),
            self._server.url.partition("://")[2],
            query.properties,
        )
        plan = self._plan(query.stored)
        return descriptions.query_description(query.stored.query, plan, facts, text)

    def _explain(self, inner: object, text: str) -> Entity:
        outcome = self._engine.analyse(inner, self._session.properties)  # type: ignore[arg-type]
        explained = text.partition(" ")[2].strip()
        match inner, outcome:
            case _, StoreQuery(query, sink):
                facts = descriptions.QueryFacts("", explained, (sink.name,), "PERSISTENT")
                return descriptions.query_description(query, self._plan(outcome), facts, text)
            case Query(), PushQuery(query):
                kind = "PULL" if inner.emit is None else "PUSH"
                stored = None
                if inner.emit is not None:
                    stored = transient_query(inner, query, self._engine, "the client").stored
                plan = None if stored is None else self._plan(stored)
                facts = descriptions.QueryFacts("", explained, (), kind)
                return descriptions.query_description(query, plan, facts, text)
            case _:
                raise SqlError("EXPLAIN is for queries, and for statements that store one")

    def _plan(self, stored: StoreQuery) -> Plan:
        config = self._server.config
        return query_plan("query", stored, self._session.properties, config, config.checkpoints)


def _placed(refusal: Exception, parsed: ParsedStatement) -> StatementError:
    """Return a refusal with the line of the statement that it is about."""
    if not isinstance(refusal, SqlError):
        return StatementError(SqlError(str(refusal)), f"{parsed.text};")
    return StatementError(refusal.within(parsed.text), f"{parsed.text};")
