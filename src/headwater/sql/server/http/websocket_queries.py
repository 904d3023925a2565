"""/ws/query: push and pull queries, and PRINT, as messages of a WebSocket.

The request is JSON in the parameter `request`, as the body of /query. The first message is the
schema, a list of columns; each row is a message; then the socket is closed, with the reason.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from headwater.http.errors import HttpError
from headwater.http.websocket import INTERNAL_ERROR, NORMAL, TRY_AGAIN_LATER, UNSUPPORTED
from headwater.sql.errors import SqlError
from headwater.sql.server.entities.errors import BAD_REQUEST
from headwater.sql.server.entities.schemas import schema
from headwater.sql.server.http.queries import only_statement, started
from headwater.sql.server.http.requests import StatementsRequest, decoded, session_of
from headwater.sql.server.http.rights import authorize
from headwater.sql.server.http.statements import wait_for_command
from headwater.sql.server.queries.printed_topics import printed
from headwater.sql.server.rows.shown import encoded
from headwater.sql.tree.statements.inspection import PrintTopic
from headwater.sql.types.errors import TypeMismatchError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from headwater.http.request import Request
    from headwater.http.websocket import WebSocket
    from headwater.sql.server.queries.query_result import QueryResult
    from headwater.sql.server.server import SqlServer

_VERSION = "1"
_UNAVAILABLE = 503


async def ws_query(server: SqlServer, request: Request, socket: WebSocket) -> None:
    """Answer a query; what is refused is said by the code and the reason of the end."""
    await socket.while_connected(_answer(server, request, socket))


async def _answer(server: SqlServer, request: Request, socket: WebSocket) -> None:
    try:
        body = _read(request)
        session = session_of(body.streams_properties, body.session_variables)
        await wait_for_command(server, body.command_sequence_number)
        statement = only_statement(body.ksql, session)
        authorize(request, statement)
        if isinstance(statement, PrintTopic):
            printing = await printed(server, statement)
            sending, close = _send_lines(printing.lines, socket), printing.close
        else:
            result = await started(server, request, statement, session)
            sending, close = _send_rows(result, socket), result.close
    except HttpError as refusal:
        code = TRY_AGAIN_LATER if refusal.status == _UNAVAILABLE else UNSUPPORTED
        await socket.close(code, refusal.message)
        return
    except (SqlError, TypeMismatchError) as refusal:
        await socket.close(UNSUPPORTED, str(refusal))
        return
    try:
        await sending
    except SqlError as failure:
        await socket.close(INTERNAL_ERROR, str(failure))
        return
    finally:
        close()
    await socket.close(NORMAL, "done")


async def _send_rows(result: QueryResult, socket: WebSocket) -> None:
    columns = [{"name": name, "schema": schema(type_)} for name, type_ in result.columns]
    await socket.send(encoded(columns))
    async with aclosing(result.limited()) as batches:
        async for batch in batches:
            for row in batch:
                await socket.send(encoded({"row": {"columns": row}}))


async def _send_lines(lines: AsyncGenerator[bytes, None], socket: WebSocket) -> None:
    async with aclosing(lines) as printing:
        async for chunk in printing:
            for line in chunk.decode("utf-8", "replace").splitlines():
                await socket.send(encoded(line))


def _read(request: Request) -> StatementsRequest:
    if request.text("version", _VERSION) != _VERSION:
        raise _bad(f"Received invalid api version: {request.text('version')}")
    text = request.text("request")
    if not text:
        raise _bad("Error parsing request: missing request parameter")
    return decoded(text, StatementsRequest)


def _bad(message: str) -> HttpError:
    return HttpError(400, BAD_REQUEST, message)
