"""Statements that make, fill, change and drop something, out of the grammar's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.parser.tokens import name_of, place, text_of
from headwater.sql.tree.statements.changes import (
    AddedColumn,
    AlterSource,
    AlterSystem,
    DropNamed,
    DropSource,
    InsertSelect,
    InsertValues,
    NamedKind,
)
from headwater.sql.tree.statements.creation import (
    ColumnDefinition,
    ColumnRole,
    ConnectorKind,
    CreateAsSelect,
    CreateConnector,
    CreateSource,
    CreateType,
    SourceKind,
)
from headwater.sql.tree.statements.properties import Property

if TYPE_CHECKING:
    from lark import Token

    from headwater.sql.tree.expressions import (
        DecimalLiteral,
        DoubleLiteral,
        Expression,
        IntegerLiteral,
        Literal,
    )
    from headwater.sql.tree.queries import Query
    from headwater.sql.tree.statements.statement import Statement
    from headwater.sql.tree.types import TypeNode

    Columns = tuple[ColumnDefinition, ...]
    Properties = tuple[Property, ...]
    Number = IntegerLiteral | DecimalLiteral | DoubleLiteral


class StatementRules:
    """A method for each rule of CREATE, INSERT, DROP and ALTER."""

    def create_source(
        self,
        start: Token,
        or_replace: bool | None,
        is_source: Token | None,
        kind: SourceKind,
        if_not_exists: bool | None,
        name: Token,
        columns: Columns | None,
        properties: Properties | None,
    ) -> Statement:
        """`CREATE STREAM name (columns) WITH (properties)`."""
        return CreateSource(
            kind,
            name_of(name),
            columns or (),
            properties or (),
            or_replace is True,
            is_source is not None,
            if_not_exists is True,
            location=place(start),
        )

    def create_as_select(
        self,
        start: Token,
        or_replace: bool | None,
        kind: SourceKind,
        if_not_exists: bool | None,
        name: Token,
        properties: Properties | None,
        as_: Token,
        query: Query,
    ) -> Statement:
        """`CREATE STREAM name AS SELECT`."""
        return CreateAsSelect(
            kind,
            name_of(name),
            query,
            properties or (),
            or_replace is True,
            if_not_exists is True,
            location=place(start),
        )

    def create_type(
        self,
        start: Token,
        kind: Token,
        if_not_exists: bool | None,
        name: Token,
        as_: Token,
        type_: TypeNode,
    ) -> Statement:
        """`CREATE TYPE name AS type`."""
        return CreateType(name_of(name), type_, if_not_exists is True, location=place(start))

    def create_connector(
        self,
        start: Token,
        kind: ConnectorKind,
        connector: Token,
        if_not_exists: bool | None,
        name: Token,
        properties: Properties | None,
    ) -> Statement:
        """`CREATE SOURCE CONNECTOR name WITH (properties)`."""
        return CreateConnector(
            kind, name_of(name), properties or (), if_not_exists is True, location=place(start)
        )

    def or_replace(self, *words: Token) -> bool:
        """`OR REPLACE`."""
        return True

    def if_not_exists(self, *words: Token) -> bool:
        """`IF NOT EXISTS`."""
        return True

    def if_exists(self, *words: Token) -> bool:
        """`IF EXISTS`."""
        return True

    def source_kind(self, word: Token) -> SourceKind:
        """STREAM or TABLE."""
        return SourceKind[word.upper()]

    def connector_kind(self, word: Token) -> ConnectorKind:
        """SOURCE or SINK."""
        return ConnectorKind[word.upper()]

    def named_kind(self, word: Token) -> NamedKind:
        """TYPE or CONNECTOR."""
        return NamedKind[word.upper()]

    def columns(self, *columns: ColumnDefinition | None) -> Columns:
        """`(column, column)`."""
        return tuple(column for column in columns if column is not None)

    def column_definition(
        self, name: Token, type_: TypeNode, role: tuple[ColumnRole, str | None] | None
    ) -> ColumnDefinition:
        """`name type [KEY]`."""
        return ColumnDefinition(
            name_of(name), type_, *(role or (ColumnRole.VALUE, None)), location=place(name)
        )

    def column_role(self, word: Token, *rest: Token) -> tuple[ColumnRole, str | None]:
        """`KEY`, `PRIMARY KEY`, `HEADERS` or `HEADER('name')`."""
        if word.type == "PRIMARY":
            return ColumnRole.PRIMARY_KEY, None
        header = next((text_of(token) for token in rest if token.type == "TEXT"), None)
        return ColumnRole[word.upper()], header

    def properties(self, start: Token, *properties: Property | None) -> Properties:
        """`WITH (property, property)`."""
        return tuple(given for given in properties if given is not None)

    def property(self, name: Token, value: Literal) -> Property:
        """`name = value`."""
        return Property(name_of(name), value, location=place(name))

    def signed_number(self, sign: Token, number: Number) -> Number:
        """`-1`, as a property's value."""
        if sign == "+":
            return number
        return type(number)(-number.value, location=place(sign))  # type: ignore[arg-type]

    def insert_select(
        self, start: Token, into: Token, target: Token, properties: Properties | None, query: Query
    ) -> Statement:
        """`INSERT INTO target SELECT`."""
        return InsertSelect(name_of(target), query, properties or (), location=place(start))

    def insert_values(
        self,
        start: Token,
        into: Token,
        target: Token,
        columns: tuple[str, ...] | None,
        word: Token,
        values: tuple[Expression, ...],
    ) -> Statement:
        """`INSERT INTO target (columns) VALUES (values)`."""
        return InsertValues(name_of(target), columns or (), values, location=place(start))

    def name_list(self, *names: Token) -> tuple[str, ...]:
        """`(name, name)`."""
        return tuple(name_of(name) for name in names)

    def drop_source(
        self,
        start: Token,
        kind: SourceKind,
        if_exists: bool | None,
        name: Token,
        delete_topic: bool | None,
    ) -> Statement:
        """`DROP STREAM name [DELETE TOPIC]`."""
        return DropSource(
            kind,
            name_of(name),
            if_exists is True,
            delete_topic is True,
            location=place(start),
        )

    def delete_topic(self, *words: Token) -> bool:
        """`DELETE TOPIC`."""
        return True

    def drop_named(
        self, start: Token, kind: NamedKind, if_exists: bool | None, name: Token
    ) -> Statement:
        """`DROP TYPE name` and `DROP CONNECTOR name`."""
        return DropNamed(kind, name_of(name), if_exists is True, location=place(start))

    def alter_source(
        self, start: Token, kind: SourceKind, name: Token, *columns: AddedColumn
    ) -> Statement:
        """`ALTER STREAM name ADD COLUMN ...`."""
        return AlterSource(kind, name_of(name), columns, location=place(start))

    def added_column(
        self, start: Token, word: Token | None, name: Token, type_: TypeNode
    ) -> AddedColumn:
        """`ADD [COLUMN] name type`."""
        return AddedColumn(name_of(name), type_, location=place(start))

    def alter_system(self, start: Token, word: Token, property_: Token, value: Token) -> Statement:
        """`ALTER SYSTEM 'property' = 'value'`."""
        return AlterSystem(text_of(property_), text_of(value), location=place(start))
