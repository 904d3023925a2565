"""The engine: what all commands so far amount to. It knows neither Kafka nor Spark."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.sql.analysis.outcomes import (
    DropSource,
    DropType,
    MakeSource,
    MakeType,
    Nothing,
    Outcome,
    StoreQuery,
    apply,
)
from headwater.sql.analysis.properties import OF_INSERTS, OF_QUERIES, Properties
from headwater.sql.analysis.statements import StatementAnalyser
from headwater.sql.errors import SqlError
from headwater.sql.metastore.metastore import Metastore
from headwater.sql.metastore.schema_lookup import NoSchemas
from headwater.sql.parser.parser import parse_statement
from headwater.sql.server.queries.persistent_query import PersistentQuery, query_id
from headwater.sql.tree.statements.changes import AlterSource, AlterSystem, InsertSelect
from headwater.sql.tree.statements.control import ControlQuery, QueryAction
from headwater.sql.tree.statements.creation import CreateAsSelect
from headwater.sql.types.errors import TypeMismatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.sql.metastore.schema_lookup import SchemaLookup
    from headwater.sql.server.commands.command import Command
    from headwater.sql.tree.statements.statement import Statement


@dataclass(frozen=True)
class Done:
    """What a statement has brought about, in ksqlDB's words."""

    message: str
    outcome: Outcome | None = None
    query_id: str | None = None
    is_warning: bool = False


@dataclass(frozen=True)
class CommandStatus:
    """What became of a command."""

    status: str
    message: str
    query_id: str | None = None


@dataclass
class Surroundings:
    """What a statement is checked against besides the engine's own state."""

    schemas: SchemaLookup = field(default_factory=NoSchemas)
    partitions: Callable[[str], int | None] = lambda topic: None


@dataclass
class Engine:
    """Streams, tables, types and queries; every server of a cluster comes to the same ones.

    >>> engine = Engine()
    >>> statement = parse_statement(
    ...     "CREATE STREAM s (x INT) WITH (kafka_topic='t', value_format='JSON')"
    ... )
    >>> engine.change(statement, "", {}, 0).message
    'Stream created'
    """

    metastore: Metastore = field(default_factory=Metastore)
    queries: dict[str, PersistentQuery] = field(default_factory=dict)
    # The statement that made each stream and table.
    statements: dict[str, str] = field(default_factory=dict)
    statuses: dict[str, CommandStatus] = field(default_factory=dict)
    system_properties: dict[str, str] = field(default_factory=dict)

    def sandbox(self) -> Engine:
        """Return an engine to try statements on; nothing that it does changes this one."""
        return Engine(
            Metastore(dict(self.metastore.sources), dict(self.metastore.types)),
            dict(self.queries),
            dict(self.statements),
            {},
            dict(self.system_properties),
        )

    def run(self, command: Command, number: int) -> CommandStatus:
        """Take in a command of the topic; one that fails leaves everything as it was."""
        try:
            statement = parse_statement(command.statement)
            done = self.change(statement, command.statement, command.properties, number)
            status = CommandStatus("SUCCESS", done.message, done.query_id)
        except (SqlError, TypeMismatchError) as refusal:
            status = CommandStatus("ERROR", str(refusal))
        self.statuses[str(command.id)] = status
        return status

    def analyse(
        self,
        statement: Statement,
        properties: Mapping[str, str],
        around: Surroundings | None = None,
    ) -> Outcome:
        """Check a statement; raises SqlError."""
        around = around or Surroundings()
        settings = {**self.system_properties, **properties}
        analyser = StatementAnalyser(self.metastore, settings, around.schemas, around.partitions)
        try:
            return analyser.analyse(statement)
        except TypeMismatchError as mismatch:
            raise SqlError(str(mismatch)) from mismatch

    def change(
        self,
        statement: Statement,
        text: str,
        properties: Mapping[str, str],
        number: int,
        around: Surroundings | None = None,
    ) -> Done:
        """Do what a statement asks for; raises SqlError, and nothing is changed then."""
        if isinstance(statement, ControlQuery):
            return self._control(statement)
        if isinstance(statement, AlterSystem):
            self.system_properties[statement.property] = statement.value
            return Done(f"System property {statement.property} was set to {statement.value}.")
        outcome = self.analyse(statement, properties, around)
        if isinstance(statement, AlterSource) and any(
            query.makes_sink for query in self.writers(statement.name)
        ):
            raise SqlError(
                "ALTER command is not supported for CREATE ... AS statements.", statement.location
            )
        match outcome:
            case Nothing(reason):
                return Done(reason, outcome, is_warning=True)
            case DropSource(source):
                return self._drop(outcome, source.name)
            case StoreQuery():
                return self._store(outcome, statement, text, properties, number)
            case MakeSource(source):
                apply(outcome, self.metastore)
                self.statements[source.name] = text
                return Done(f"{source.kind.value.capitalize()} created", outcome)
            case MakeType(name, type_):
                apply(outcome, self.metastore)
                message = f"Registered custom type with name '{name}' and SQL type {type_}"
                return Done(message, outcome)
            case DropType(name):
                apply(outcome, self.metastore)
                return Done(f"Dropped type '{name}'", outcome)
            case _:
                raise SqlError("the statement changes nothing")

    def readers(self, source: str) -> list[PersistentQuery]:
        """Return the queries that read a stream or table."""
        return [query for query in self.queries.values() if source in query.reads]

    def writers(self, source: str) -> list[PersistentQuery]:
        """Return the queries that fill a stream or table."""
        return [query for query in self.queries.values() if query.sink == source]

    def find_query(self, query_id: str) -> PersistentQuery:
        """Return a query, whose id may be written in any capitals; raises SqlError."""
        found = self.queries.get(query_id) or self.queries.get(query_id.upper())
        if found is None:
            raise SqlError(f"there is no query {query_id}; SHOW QUERIES lists all")
        return found

    def _store(
        self,
        stored: StoreQuery,
        statement: Statement,
        text: str,
        properties: Mapping[str, str],
        number: int,
    ) -> Done:
        replaced = next((q for q in self.writers(stored.sink.name) if q.makes_sink), None)
        is_replacement = stored.is_new and replaced is not None
        id_ = _given_id(statement) or query_id(stored, number)
        if is_replacement and replaced is not None:
            id_ = replaced.id
        elif id_ in self.queries:
            raise SqlError(f"there is a query {id_} already")
        apply(stored, self.metastore)
        version = number if is_replacement else 0
        self.queries[id_] = PersistentQuery(id_, text, stored, dict(properties), version=version)
        if stored.is_new:
            self.statements[stored.sink.name] = text
        return Done(f"Created query with ID {id_}", stored, id_)

    def _drop(self, outcome: DropSource, name: str) -> Done:
        """Forget a source, and end the query that fills it; others have to be ended before."""
        readers = sorted({query.sink for query in self.readers(name)})
        if readers:
            raise SqlError(
                f"Cannot drop {name}. The following streams and/or tables read from this source: "
                f"[{', '.join(readers)}]. You need to drop them before dropping {name}."
            )
        inserting = [query.id for query in self.writers(name) if not query.makes_sink]
        if inserting:
            raise SqlError(
                f"Cannot drop {name}. The following queries write into this source: "
                f"[{', '.join(inserting)}]. You need to terminate them before dropping {name}."
            )
        for query in self.writers(name):
            del self.queries[query.id]
        apply(outcome, self.metastore)
        self.statements.pop(name, None)
        return Done(f"Source `{name}` (topic: {outcome.source.topic}) was dropped.", outcome)

    def _control(self, statement: ControlQuery) -> Done:
        named = statement.query_id
        chosen = list(self.queries.values()) if named is None else [self.find_query(named)]
        for query in chosen:
            match statement.action:
                case QueryAction.TERMINATE:
                    del self.queries[query.id]
                case QueryAction.PAUSE:
                    self.queries[query.id] = query.paused(True)
                case QueryAction.RESUME:
                    self.queries[query.id] = query.paused(False)
        word = {"TERMINATE": "terminated", "PAUSE": "paused", "RESUME": "resumed"}
        return Done(f"Query {word[statement.action.value]}.", query_id=named)


def _given_id(statement: Statement) -> str | None:
    """Return the id that WITH (QUERY_ID = ...) gives."""
    if not isinstance(statement, CreateAsSelect | InsertSelect):
        return None
    allowed = OF_INSERTS if isinstance(statement, InsertSelect) else OF_QUERIES
    given = Properties(statement.properties, allowed).text("QUERY_ID")
    return None if given is None else given.upper()
