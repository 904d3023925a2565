"""/query and /query-stream: push and pull queries, and PRINT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.http.answers import Stream, answer
from headwater.http.errors import HttpError
from headwater.http.rights import ALL_NAMES, Operation, ResourceType
from headwater.sql.analysis.outcomes import PushQuery
from headwater.sql.errors import SqlError
from headwater.sql.parser.parser import parse
from headwater.sql.server.entities.errors import BAD_REQUEST, BAD_STATEMENT, statement_error
from headwater.sql.server.http.requests import (
    CloseRequest,
    QueryRequest,
    StatementsRequest,
    body_of,
    session_of,
)
from headwater.sql.server.http.rights import authorize
from headwater.sql.server.http.row_formats import (
    JSON,
    KSQL_V1,
    DelimitedRows,
    ListedRows,
    RowFormat,
    WrappedRows,
    written,
)
from headwater.sql.server.http.statements import wait_for_command
from headwater.sql.server.queries.printed_topics import printed
from headwater.sql.server.queries.window_bounds import with_window_bounds
from headwater.sql.tree.queries import Query
from headwater.sql.tree.statements.inspection import PrintTopic
from headwater.sql.types.errors import TypeMismatchError

if TYPE_CHECKING:
    from headwater.http.answers import Reply
    from headwater.http.request import Request
    from headwater.sql.server.queries.query_result import QueryResult
    from headwater.sql.server.server import SqlServer
    from headwater.sql.server.session import Session
    from headwater.sql.tree.statements.statement import Statement

_TEXT = "text/plain; charset=utf-8"


async def query(server: SqlServer, request: Request) -> Reply:
    """Answer a query in the older way, or PRINT as lines of text."""
    body = body_of(request, StatementsRequest)
    session = session_of(body.streams_properties, body.session_variables)
    await wait_for_command(server, body.command_sequence_number)
    format_: RowFormat = WrappedRows()
    if request.media_type == JSON:
        format_.content_type = JSON
    return await _answer(server, request, body.ksql, session, format_)


async def query_stream(server: SqlServer, request: Request) -> Reply:
    """Answer a query with its rows in the way that the client accepts."""
    body = body_of(request, QueryRequest)
    session = session_of(body.properties, body.session_variables)
    accepted = request.headers.get(b"accept", b"").decode("latin-1")
    format_: RowFormat = DelimitedRows()
    if KSQL_V1 in accepted:
        format_ = WrappedRows()
    elif JSON in accepted:
        format_ = ListedRows()
    return await _answer(server, request, body.sql, session, format_)


async def close_query(server: SqlServer, request: Request) -> Reply:
    """End a push query."""
    query_id = body_of(request, CloseRequest).query_id
    if server.push.owner(query_id) != str(request.principal):
        # Also where there is none: whose queries run is not for everybody to find out.
        request.require(Operation.ADMIN, ResourceType.STREAM, ALL_NAMES)
    if not server.push.close(query_id):
        raise HttpError(400, BAD_REQUEST, f"No query with id {query_id}")
    return answer({})


async def _answer(
    server: SqlServer, request: Request, text: str, session: Session, format_: RowFormat
) -> Reply:
    try:
        statement = only_statement(text, session)
        authorize(request, statement)
        if isinstance(statement, PrintTopic):
            text_of = await printed(server, statement)
            endless = statement.limit is None
            return Stream(text_of.lines, _TEXT, is_endless=endless, on_close=text_of.close)
        result = await started(server, request, statement, session)
    except SqlError as refusal:
        return statement_error(refusal.within(text.rstrip().rstrip(";")), text)
    except TypeMismatchError as refusal:
        return statement_error(SqlError(str(refusal)), text, BAD_STATEMENT)
    endless = result.is_push and result.limit is None
    rows = written(result, format_)
    return Stream(rows, format_.content_type, is_endless=endless, on_close=result.close)


def only_statement(text: str, session: Session) -> Statement:
    """Return the one statement of a text; raises SqlError where it is not one."""
    closed = text if text.rstrip().endswith(";") else f"{text};"
    statements = [parsed.statement for parsed in parse(closed, session.variables)]
    if len(statements) != 1:
        raise SqlError(f"Expected exactly one KSQL statement; found {len(statements)} instead")
    return statements[0]


async def started(
    server: SqlServer, request: Request, statement: Any, session: Session
) -> QueryResult:
    """Return a query's rows, which come from now on; raises SqlError."""
    if not isinstance(statement, Query):
        raise SqlError("Statement type `" + type(statement).__name__ + "` not supported for this"
                       " resource: send it to /ksql")  # fmt: skip
    statement = with_window_bounds(statement, server.engine.metastore)
    outcome = server.engine.analyse(statement, session.properties)
    assert isinstance(outcome, PushQuery)
    if statement.emit is None:
        return await server.pull.start(outcome.query, session.properties)
    return await server.push.start(
        statement, outcome.query, session.properties, str(request.principal)
    )
