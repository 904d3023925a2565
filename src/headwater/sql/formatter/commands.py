"""SHOW, DESCRIBE, SET, ASSERT and their like as text."""

from __future__ import annotations

import re
from typing import TypeAlias, assert_never

from headwater.sql.formatter.clauses import flag, name_list, value_list, with_clause
from headwater.sql.formatter.queries import format_duration
from headwater.sql.tree.statements.assertions import (
    AssertSchema,
    AssertTombstone,
    AssertTopic,
    AssertValues,
)
from headwater.sql.tree.statements.control import ControlQuery
from headwater.sql.tree.statements.inspection import (
    Describe,
    DescribeAll,
    DescribeConnector,
    DescribeFunction,
    ExplainQuery,
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
from headwater.sql.words import KEYWORDS, quoted, text_literal

Command: TypeAlias = (
    Show
    | Describe
    | DescribeAll
    | DescribeFunction
    | DescribeConnector
    | ExplainQuery
    | PrintTopic
    | ControlQuery
    | SetProperty
    | UnsetProperty
    | DefineVariable
    | UndefineVariable
    | RunScript
    | Spool
)
Assertion: TypeAlias = AssertTopic | AssertSchema | AssertValues | AssertTombstone

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def format_command(command: Command) -> str:
    """Return a command as text."""
    match command:
        case Show(listing, extended):
            return f"SHOW {listing.value}{_extended(extended)}"
        case Describe(name, extended):
            return f"DESCRIBE {quoted(name)}{_extended(extended)}"
        case DescribeAll(described, extended):
            return f"DESCRIBE {described.value}{_extended(extended)}"
        case DescribeFunction(name):
            return f"DESCRIBE FUNCTION {quoted(name)}"
        case DescribeConnector(name):
            return f"DESCRIBE CONNECTOR {quoted(name)}"
        case ExplainQuery(query_id):
            return f"EXPLAIN {quoted(query_id)}"
        case PrintTopic():
            return _print(command)
        case ControlQuery(action, query_id):
            return f"{action.value} {'ALL' if query_id is None else quoted(query_id)}"
        case _:
            return _session(command)


def format_assertion(assertion: Assertion) -> str:
    """Return an assertion as text."""
    match assertion:
        case AssertTopic(topic, properties, timeout, exists):
            what = f"TOPIC {text_literal(topic)}{with_clause(properties)}"
        case AssertSchema(subject, schema_id, timeout, exists):
            named = "" if subject is None else f" SUBJECT {text_literal(subject)}"
            numbered = "" if schema_id is None else f" ID {schema_id}"
            what = f"SCHEMA{named}{numbered}"
        case AssertValues(source, columns, values):
            names = name_list(columns)
            return f"ASSERT VALUES {quoted(source)}{names} VALUES {value_list(values)}"
        case AssertTombstone(source, columns, values):
            names = name_list(columns)
            return f"ASSERT NULL VALUES {quoted(source)}{names} KEY {value_list(values)}"
        case _:
            assert_never(assertion)
    ending = "" if timeout is None else f" TIMEOUT {format_duration(timeout)}"
    return f"ASSERT {flag(not exists, 'NOT EXISTS')}{what}{ending}"


def _session(
    command: SetProperty | UnsetProperty | DefineVariable | UndefineVariable | RunScript | Spool,
) -> str:
    match command:
        case SetProperty(name, value):
            return f"SET {text_literal(name)}={text_literal(value)}"
        case UnsetProperty(name):
            return f"UNSET {text_literal(name)}"
        case DefineVariable(name, value):
            return f"DEFINE {_variable(name)}={text_literal(value)}"
        case UndefineVariable(name):
            return f"UNDEFINE {_variable(name)}"
        case RunScript(path):
            return f"RUN SCRIPT {text_literal(path)}"
        case Spool(path):
            return f"SPOOL {'OFF' if path is None else text_literal(path)}"
        case _:
            assert_never(command)


def _extended(extended: bool) -> str:
    return " EXTENDED" if extended else ""


def _print(command: PrintTopic) -> str:
    start = " FROM BEGINNING" if command.from_beginning else ""
    interval = "" if command.interval is None else f" INTERVAL {command.interval}"
    limit = "" if command.limit is None else f" LIMIT {command.limit}"
    return f"PRINT {text_literal(command.topic)}{start}{interval}{limit}"


def _variable(name: str) -> str:
    # The capitals of a variable are kept as they were written.
    plain = _VARIABLE.fullmatch(name) and name.upper() not in KEYWORDS
    return name if plain else f"`{name.replace('`', '``')}`"
