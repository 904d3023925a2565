"""Which rights a statement asks for, where there are rules.

Streams and tables are read (queried, described), written (inserted into) and administered (created,
altered, dropped). What is about no single one takes a right to all.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from headwater.http.rights import ALL_NAMES, Operation, ResourceType
from headwater.sql.tree.queries import Query, Source
from headwater.sql.tree.statements import session
from headwater.sql.tree.statements.assertions import AssertTombstone, AssertValues
from headwater.sql.tree.statements.changes import (
    AlterSource,
    DropSource,
    InsertSelect,
    InsertValues,
)
from headwater.sql.tree.statements.creation import CreateAsSelect, CreateSource
from headwater.sql.tree.statements.inspection import (
    Describe,
    DescribeFunction,
    ExplainQuery,
    ExplainStatement,
    PrintTopic,
    Show,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.http.request import Request
    from headwater.sql.tree.statements.statement import Statement

Demand = tuple[Operation, str]

_OF_A_SESSION = (
    session.SetProperty, session.UnsetProperty, session.DefineVariable, session.UndefineVariable,
)  # fmt: skip


def authorize(request: Request, statement: Statement) -> None:
    """Raise HttpError 403 unless the client may have a statement run."""
    if request.rights is None:
        return
    for operation, name in demands(statement):
        request.require(operation, ResourceType.STREAM, name)


def demands(statement: Statement) -> Iterator[Demand]:
    """Return all that a statement does to streams and tables."""
    match statement:
        case CreateSource(name=name) | DropSource(name=name) | AlterSource(name=name):
            yield Operation.ADMIN, name
        case CreateAsSelect(name=name, query=query):
            yield Operation.ADMIN, name
            yield from _reads(query)
        case InsertSelect(target=name, query=query):
            yield Operation.WRITE, name
            yield from _reads(query)
        case InsertValues(target=name):
            yield Operation.WRITE, name
        case Query():
            yield from _reads(statement)
        case ExplainStatement(statement=explained):
            yield from _reads(explained)
        case Describe(name=name) | AssertValues(source=name) | AssertTombstone(source=name):
            yield Operation.READ, name
        case Show(extended=False) | DescribeFunction():
            return
        case Show() | ExplainQuery() | PrintTopic():
            yield Operation.READ, ALL_NAMES
        case _ if not isinstance(statement, _OF_A_SESSION):
            yield Operation.ADMIN, ALL_NAMES


def _reads(part: Any) -> Iterator[Demand]:
    """Return the sources in a part of a statement, wherever they stand."""
    if isinstance(part, Source):
        yield Operation.READ, part.name
    elif isinstance(part, tuple):
        for each in part:
            yield from _reads(each)
    elif is_dataclass(part):
        for field in fields(part):
            yield from _reads(getattr(part, field.name))
