"""Statements that look, control, set and assert, out of the grammar's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.errors import SqlSyntaxError
from headwater.sql.parser.tokens import exact_name, name_of, place, text_of
from headwater.sql.tree.statements.assertions import (
    AssertSchema,
    AssertSource,
    AssertTombstone,
    AssertTopic,
    AssertValues,
)
from headwater.sql.tree.statements.control import ControlQuery, QueryAction
from headwater.sql.tree.statements.creation import ColumnDefinition, CreateSource, SourceKind
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
    RunScript,
    SetProperty,
    Spool,
    UndefineVariable,
    UnsetProperty,
)

if TYPE_CHECKING:
    from lark import Token

    from headwater.sql.tree.expressions import Expression
    from headwater.sql.tree.queries import Duration
    from headwater.sql.tree.statements.properties import Property
    from headwater.sql.tree.statements.statement import Statement


class CommandRules:
    """A method for each rule of SHOW, DESCRIBE, SET, ASSERT and their like."""

    def show(self, start: Token, listing: Listing, extended: Token | None) -> Statement:
        """`SHOW what [EXTENDED]`."""
        return Show(listing, extended is not None, location=place(start))

    def listing(self, *words: Token) -> Listing:
        """What is listed."""
        return Listing(" ".join(word.upper() for word in words))

    def describe(self, start: Token, name: Token) -> Statement:
        """`DESCRIBE name`."""
        return Describe(name_of(name), location=place(start))

    def describe_extended(self, start: Token, first: Token, second: Token) -> Statement:
        """`DESCRIBE name EXTENDED` or `DESCRIBE EXTENDED name`."""
        name = second if first.type == "EXTENDED" else first
        return Describe(name_of(name), True, location=place(start))

    def describe_all(self, start: Token, what: Described, extended: Token | None) -> Statement:
        """`DESCRIBE STREAMS`."""
        return DescribeAll(what, extended is not None, location=place(start))

    def described(self, word: Token) -> Described:
        """STREAMS or TABLES."""
        return Described[word.upper()]

    def describe_function(self, start: Token, word: Token, name: Token) -> Statement:
        """`DESCRIBE FUNCTION name`."""
        return DescribeFunction(name_of(name), location=place(start))

    def describe_connector(self, start: Token, word: Token, name: Token) -> Statement:
        """`DESCRIBE CONNECTOR name`."""
        return DescribeConnector(name_of(name), location=place(start))

    def explain_query(self, start: Token, query_id: Token) -> Statement:
        """`EXPLAIN id`."""
        return ExplainQuery(name_of(query_id), location=place(start))

    def explain_statement(self, start: Token, statement: Statement) -> Statement:
        """`EXPLAIN statement`."""
        return ExplainStatement(statement, location=place(start))

    def print_topic(
        self,
        start: Token,
        topic: Token,
        from_beginning: bool | None,
        interval: int | None,
        limit: int | None,
    ) -> Statement:
        """`PRINT topic`."""
        return PrintTopic(
            exact_name(topic), from_beginning is True, interval, limit, location=place(start)
        )

    def from_beginning(self, *words: Token) -> bool:
        """`FROM BEGINNING`."""
        return True

    def print_interval(self, start: Token, interval: Token) -> int:
        """`INTERVAL n`."""
        return int(interval)

    def control_query(self, action: tuple[Token, QueryAction], query: Token) -> Statement:
        """`TERMINATE id` or `TERMINATE ALL`."""
        start, what = action
        query_id = None if query.type == "ALL" else name_of(query)
        return ControlQuery(what, query_id, location=place(start))

    def query_action(self, word: Token) -> tuple[Token, QueryAction]:
        """TERMINATE, PAUSE or RESUME."""
        return word, QueryAction[word.upper()]

    def set_property(self, start: Token, property_: Token, value: Token) -> Statement:
        """`SET 'property' = 'value'`."""
        return SetProperty(text_of(property_), text_of(value), location=place(start))

    def unset_property(self, start: Token, property_: Token) -> Statement:
        """`UNSET 'property'`."""
        return UnsetProperty(text_of(property_), location=place(start))

    def define_variable(self, start: Token, name: Token, value: Token) -> Statement:
        """`DEFINE name = 'value'`."""
        return DefineVariable(exact_name(name), text_of(value), location=place(start))

    def undefine_variable(self, start: Token, name: Token) -> Statement:
        """`UNDEFINE name`."""
        return UndefineVariable(exact_name(name), location=place(start))

    def run_script(self, start: Token, word: Token, path: Token) -> Statement:
        """`RUN SCRIPT 'file'`."""
        return RunScript(text_of(path), location=place(start))

    def spool(self, start: Token, path: Token) -> Statement:
        """`SPOOL 'file'` or `SPOOL OFF`."""
        return Spool(None if path.type == "OFF" else text_of(path), location=place(start))

    def assert_topic(
        self,
        start: Token,
        not_exists: bool | None,
        word: Token,
        topic: Token,
        properties: tuple[Property, ...] | None,
        timeout: Duration | None,
    ) -> Statement:
        """`ASSERT TOPIC topic`."""
        return AssertTopic(
            exact_name(topic),
            properties or (),
            timeout,
            not_exists is not True,
            location=place(start),
        )

    def assert_schema(
        self,
        start: Token,
        not_exists: bool | None,
        word: Token,
        subject: str | None,
        schema_id: int | None,
        timeout: Duration | None,
    ) -> Statement:
        """`ASSERT SCHEMA SUBJECT subject ID id`."""
        if subject is None and schema_id is None:
            raise SqlSyntaxError("ASSERT SCHEMA needs a SUBJECT, an ID, or both", place(start))
        return AssertSchema(
            subject, schema_id, timeout, not_exists is not True, location=place(start)
        )

    def not_exists(self, *words: Token) -> bool:
        """`NOT EXISTS`."""
        return True

    def schema_subject(self, start: Token, name: Token) -> str:
        """`SUBJECT name`."""
        return exact_name(name)

    def schema_id(self, start: Token, number: Token) -> int:
        """`ID number`."""
        return int(number)

    def timeout(self, start: Token, duration: Duration) -> Duration:
        """`TIMEOUT duration`."""
        return duration

    def assert_values(
        self,
        start: Token,
        first: Token,
        source: Token,
        columns: tuple[str, ...] | None,
        second: Token,
        values: tuple[Expression, ...],
    ) -> Statement:
        """`ASSERT VALUES source (columns) VALUES (values)`."""
        return AssertValues(name_of(source), columns or (), values, location=place(start))

    def assert_tombstone(
        self,
        start: Token,
        null: Token,
        word: Token,
        source: Token,
        columns: tuple[str, ...] | None,
        key: Token,
        values: tuple[Expression, ...],
    ) -> Statement:
        """`ASSERT NULL VALUES source (columns) KEY (values)`."""
        return AssertTombstone(name_of(source), columns or (), values, location=place(start))

    def assert_source(
        self,
        start: Token,
        kind: SourceKind,
        name: Token,
        columns: tuple[ColumnDefinition, ...] | None,
        properties: tuple[Property, ...] | None,
    ) -> Statement:
        """`ASSERT STREAM name (columns) WITH (properties)`."""
        expected = CreateSource(
            kind, name_of(name), columns or (), properties or (), location=place(start)
        )
        return AssertSource(expected, location=place(start))
