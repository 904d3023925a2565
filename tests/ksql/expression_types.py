"""The types of a case's expressions, as far as its statements say what their sources are."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from headwater.sql.analysis.expressions import analyse, analyse_condition
from headwater.sql.analysis.scope import Scope
from headwater.sql.analysis.sources import SourceColumn, SourceSchema, declared_source
from headwater.sql.parser.parser import parse, parse_statement
from headwater.sql.tree.expressions import Column, Dereference
from headwater.sql.tree.queries import (
    Join,
    Query,
    Relation,
    SelectAll,
    SelectExpression,
    SelectFields,
    SelectItem,
    Source,
)
from headwater.sql.tree.statements.changes import InsertSelect
from headwater.sql.tree.statements.creation import CreateAsSelect, CreateSource, CreateType
from headwater.sql.types.named import resolve_type
from headwater.sql.types.sql_type import SqlType, Struct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.ksql.cases import Case

    from headwater.sql.tree.statements.statement import Statement


class UnknownSourceError(Exception):
    """A source whose columns are not in the statements: the registry has them."""


class CaseTypes:
    """The sources and types that a case's statements have made so far."""

    def __init__(self) -> None:
        self._sources: dict[str, SourceSchema] = {}
        self._custom: dict[str, SqlType] = {}

    def run(self, case: Case) -> list[str]:
        """Look at all statements; return where a column has another type than the case expects."""
        for text in case.statements:
            for parsed in parse(text):
                self._look_at(parsed.statement)
        return list(itertools.chain.from_iterable(itertools.starmap(self._compare, case.schemas)))

    def _look_at(self, statement: Statement) -> None:
        match statement:
            case CreateSource(_, name, columns) if columns:
                self._sources[name] = declared_source(statement, self._custom)
            case CreateType(name, type_):
                self._custom[name] = resolve_type(type_, self._custom)
            case CreateAsSelect(kind, name, query):
                made = tuple(self._query(query))
                self._sources[name] = SourceSchema(name, kind, made, query.window is not None)
            case InsertSelect(_, query):
                list(self._query(query))
            case _:
                pass

    def _query(self, query: Query) -> Iterator[SourceColumn]:
        scope = self._scope(query)
        for item in query.select:
            yield from _columns(item, scope)
        for join in _joins(query.source):
            analyse(join.on, scope)
        if query.where is not None:
            analyse_condition(query.where, scope, "WHERE")
        for expression in (*query.group_by, *query.partition_by):
            analyse(expression, scope)
        if query.having is not None:
            analyse_condition(query.having, scope, "HAVING")

    def _scope(self, query: Query) -> Scope:
        sources = {}
        for source in _sources(query.source):
            if source.name not in self._sources:
                raise UnknownSourceError(source.name)
            sources[source.alias or source.name] = self._sources[source.name]
        return Scope(sources, {}, self._custom, query.window is not None)

    def _compare(self, name: str, schema: str) -> Iterator[str]:
        declared = parse_statement(f"CREATE STREAM expected ({schema})")
        known = self._sources.get(name)
        if known is None or not isinstance(declared, CreateSource):
            return
        types = {column.name: column.type for column in known.columns}
        for column in declared.columns:
            expected = resolve_type(column.type, {})
            found = types.get(column.name, expected)
            if found != expected:
                yield f"{name}.{column.name} is {found}, not {expected}"


def _columns(item: SelectItem, scope: Scope) -> Iterator[SourceColumn]:
    match item:
        case SelectExpression(expression, alias):
            type_ = analyse(expression, scope).type
            match expression:
                case Column(name) | Dereference(_, name):
                    yield SourceColumn(alias or name, type_)
                case _:
                    yield SourceColumn(alias or "", type_)
        case SelectFields(struct):
            found = analyse(struct, scope).type
            fields = found.fields if isinstance(found, Struct) else ()
            yield from (SourceColumn(name, type_) for name, type_ in fields)
        case SelectAll(of):
            for alias, source in scope.sources.items():
                prefix = f"{alias}_" if len(scope.sources) > 1 else ""
                for column in source.columns if of in (None, alias) else ():
                    yield SourceColumn(prefix + column.name, column.type)


def _sources(relation: Relation) -> Iterator[Source]:
    if isinstance(relation, Join):
        yield from _sources(relation.left)
        yield relation.right
    else:
        yield relation


def _joins(relation: Relation) -> Iterator[Join]:
    if isinstance(relation, Join):
        yield from _joins(relation.left)
        yield relation
