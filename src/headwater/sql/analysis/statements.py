"""Statements: each is checked against what there is, and refused when it is sent or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from headwater.sql.analysis.creation import declared_source
from headwater.sql.analysis.inserts import check_insert_select, inserted_row
from headwater.sql.analysis.outcomes import (
    DropSource,
    DropType,
    MakeSource,
    MakeType,
    Nothing,
    Outcome,
    PushQuery,
    StoreQuery,
    apply,
)
from headwater.sql.analysis.properties import OF_INSERTS, Properties
from headwater.sql.analysis.query.query import analyse_query
from headwater.sql.analysis.replacement import check_replacement
from headwater.sql.analysis.results import result_source
from headwater.sql.errors import SqlError
from headwater.sql.metastore.metastore import Metastore
from headwater.sql.metastore.schema_lookup import NoSchemas, SchemaLookup
from headwater.sql.metastore.source import SourceColumn
from headwater.sql.tree.queries import Query
from headwater.sql.tree.statements import changes
from headwater.sql.tree.statements.changes import (
    AlterSource,
    DropNamed,
    InsertSelect,
    InsertValues,
    NamedKind,
)
from headwater.sql.tree.statements.creation import (
    CreateAsSelect,
    CreateSource,
    CreateType,
)
from headwater.sql.tree.statements.inspection import ExplainStatement
from headwater.sql.types.named import resolve_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from headwater.sql.metastore.source import DataSource
    from headwater.sql.tree.statements.statement import Statement


@dataclass
class StatementAnalyser:
    """Checks statements against a metastore, with the settings of the session.

    >>> from headwater.sql.parser.parser import parse_statement
    >>> analyser = StatementAnalyser()
    >>> text = "CREATE STREAM s (x INT) WITH (kafka_topic='t', value_format='JSON')"
    >>> analyser.run(parse_statement(text)).source.topic
    't'
    """

    metastore: Metastore = field(default_factory=Metastore)
    settings: Mapping[str, str] = field(default_factory=dict)
    schemas: SchemaLookup = field(default_factory=NoSchemas)
    # How many partitions a topic has that is there already; None if that is not known.
    partitions: Callable[[str], int | None] = lambda topic: None

    def run(self, statement: Statement) -> Outcome:
        """Check a statement and change the metastore as it asks."""
        outcome = self.analyse(statement)
        apply(outcome, self.metastore)
        return outcome

    def analyse(self, statement: Statement) -> Outcome:
        """Check a statement; return what it asks for."""
        match statement:
            case CreateSource():
                return self._create(statement)
            case CreateAsSelect():
                return self._create_as(statement)
            case InsertSelect():
                return self._insert_select(statement)
            case InsertValues():
                return inserted_row(statement, self.metastore)
            case Query():
                return PushQuery(analyse_query(statement, self.metastore, is_stored=False))
            case CreateType():
                return self._create_type(statement)
            case changes.DropSource():
                return self._drop(statement)
            case DropNamed(NamedKind.TYPE):
                return self._drop_type(statement)
            case AlterSource():
                return self._alter(statement)
            case ExplainStatement(inner):
                return self.analyse(inner)
            case _:
                return Nothing("the statement is about no stream, table or type")

    def _create(self, statement: CreateSource) -> Outcome:
        known = self._known(statement)
        if known is not None:
            return known
        made = declared_source(statement, self.metastore.types, self.settings, self.schemas)
        self._check_replaced(made, statement)
        there = self.partitions(made.topic)
        return MakeSource(made if there is None else replace(made, partitions=there))

    def _create_as(self, statement: CreateAsSelect) -> Outcome:
        known = self._known(statement)
        if known is not None:
            return known
        if statement.query.limit is not None:
            raise SqlError("a query whose result is stored has no LIMIT", statement.query.location)
        query = analyse_query(statement.query, self.metastore, is_stored=True)
        if query.kind is not statement.kind:
            raise SqlError(
                f"the query makes a {query.kind.value}: write CREATE {query.kind.value} "
                f"{statement.name} AS SELECT",
                statement.location,
            )
        sink = result_source(statement, query, self.settings, self.schemas)
        self._check_replaced(sink, statement)
        return StoreQuery(query, sink, is_new=True, settings=dict(self.settings))

    def _known(self, statement: CreateSource | CreateAsSelect) -> Nothing | None:
        known = self.metastore.find(statement.name)
        if known is None:
            return None
        kind = known.kind.value.lower()
        if statement.if_not_exists:
            return Nothing(f"there is a {kind} {known.name} already")
        if statement.or_replace:
            return None
        raise SqlError(f"there is a {kind} {known.name} already", statement.location)

    def _check_replaced(self, made: DataSource, statement: CreateSource | CreateAsSelect) -> None:
        known = self.metastore.find(made.name)
        if known is not None:
            check_replacement(known, made, statement.location)

    def _insert_select(self, statement: InsertSelect) -> Outcome:
        target = self.metastore.source(statement.target, statement.location)
        Properties(statement.properties, OF_INSERTS)
        query = analyse_query(statement.query, self.metastore, is_stored=True)
        check_insert_select(statement, target, query)
        return StoreQuery(query, target, is_new=False, settings=dict(self.settings))

    def _create_type(self, statement: CreateType) -> Outcome:
        name = statement.name
        if name in self.metastore.types:
            if statement.if_not_exists:
                return Nothing(f"there is a type {name} already")
            raise SqlError(f"there is a type {name} already", statement.location)
        return MakeType(name, resolve_type(statement.type, self.metastore.types))

    def _drop(self, statement: changes.DropSource) -> Outcome:
        known = self.metastore.find(statement.name)
        if known is None and statement.if_exists:
            return Nothing(f"there is no {statement.kind.value.lower()} {statement.name}")
        known = self.metastore.source(statement.name, statement.location)
        if known.kind is not statement.kind:
            raise SqlError(
                f"{known.name} is a {known.kind.value.lower()}: write DROP {known.kind.value}",
                statement.location,
            )
        if known.is_source and statement.delete_topic:
            raise SqlError(
                f"{known.name} is read-only: its topic is not deleted with it", statement.location
            )
        return DropSource(known, statement.delete_topic)

    def _drop_type(self, statement: DropNamed) -> Outcome:
        name = statement.name
        if name not in self.metastore.types:
            if statement.if_exists:
                return Nothing(f"there is no type {name}")
            raise SqlError(f"there is no type {name}", statement.location)
        return DropType(name)

    def _alter(self, statement: AlterSource) -> Outcome:
        known = self.metastore.source(statement.name, statement.location)
        if known.kind is not statement.kind:
            kind = known.kind.value
            raise SqlError(f"{known.name} is a {kind}: write ALTER {kind}", statement.location)
        added = []
        for column in statement.columns:
            if known.column(column.name) is not None:
                raise SqlError(f"{known.name} has a column {column.name} already", column.location)
            added.append(SourceColumn(column.name, resolve_type(column.type, self.metastore.types)))
        return MakeSource(replace(known, columns=(*known.columns, *added)))
