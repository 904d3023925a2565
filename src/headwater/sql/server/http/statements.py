"""/ksql, and what is known of its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.http.answers import Answer, answer
from headwater.http.errors import HttpError
from headwater.http.rights import ALL_NAMES, Operation, ResourceType
from headwater.sql.server.commands.changes import is_change
from headwater.sql.server.entities.errors import (
    BAD_REQUEST,
    NOT_FOUND,
    QUERY_ENDPOINT,
    statement_error,
)
from headwater.sql.server.entities.statuses import command_status
from headwater.sql.server.http.leader import by_leader
from headwater.sql.server.http.requests import (
    StatementsRequest,
    TerminateRequest,
    body_of,
    session_of,
)
from headwater.sql.server.http.rights import authorize
from headwater.sql.server.rows.shown import encoded
from headwater.sql.server.session import Session
from headwater.sql.server.statements import StatementError, StatementRunner, read
from headwater.topic_state.errors import TopicStateError

if TYPE_CHECKING:
    from headwater.http.answers import Reply
    from headwater.http.request import Request
    from headwater.sql.server.server import SqlServer

_TERMINATE_ALL = "TERMINATE ALL;"


async def run_statements(server: SqlServer, request: Request) -> Reply:
    """Run statements; SELECT and PRINT have routes of their own."""
    body = body_of(request, StatementsRequest)
    session = session_of(body.streams_properties, body.session_variables)
    await wait_for_command(server, body.command_sequence_number)
    try:
        statements = read(body.ksql, session)
    except StatementError as refused:
        return _refused(refused)
    for parsed in statements:
        authorize(request, parsed.statement)
    # Reading has defined the variables; what a request defines is no later request's.
    runner = StatementRunner(server, session)

    async def act() -> Answer:
        try:
            return Answer(encoded(await runner.run(statements)))
        except StatementError as refused:
            return _refused(refused)

    if not any(is_change(parsed.statement) for parsed in statements):
        return await act()
    if server.config.queries_file is not None:
        raise HttpError(
            400, BAD_REQUEST, "The server is headless: its statements are those of its file"
        )
    return await by_leader(server, request, act)


async def wait_for_command(server: SqlServer, number: int | None) -> None:
    """Wait until a command was run here, which the client has seen elsewhere; raises HttpError."""
    if number is None or number < 0:
        return
    assert server.member is not None
    try:
        await server.member.log.read_to(number + 1)
    except TopicStateError as failure:
        message = f"Timed out while waiting for a previous command to execute: {failure}"
        raise HttpError(503, 50301, message) from None


async def statuses(server: SqlServer, _: Request) -> Reply:
    """Tell what became of all commands."""
    found = {id_: status.status for id_, status in server.engine.statuses.items()}
    return answer({"commandStatuses": found})


async def status(server: SqlServer, request: Request) -> Reply:
    """Tell what became of one command; its entity may be written with or without backticks."""
    kind, entity, action = (request.parameters[name] for name in ("type", "entity", "action"))
    for name in (entity, f"`{entity}`"):
        found = server.engine.statuses.get(f"{kind}/{name}/{action}")
        if found is not None:
            return answer(command_status(found))
    raise HttpError(404, NOT_FOUND + 4, f"Command not found: {kind}/{entity}/{action}")


async def terminate(server: SqlServer, request: Request) -> Reply:
    """End all queries; the streams and tables whose topics are listed are dropped with these."""
    request.require(Operation.ADMIN, ResourceType.STREAM, ALL_NAMES)
    body = body_of(request, TerminateRequest) if request.body else TerminateRequest()
    names = set(body.delete_topic_list or ())
    dropped = [
        f"DROP {source.kind.value} `{source.name}` DELETE TOPIC;"
        for source in reversed(server.engine.metastore.sources.values())
        if source.topic in names and not source.is_source
    ]
    runner = StatementRunner(server, Session())

    async def act() -> Answer:
        try:
            statements = read(" ".join([_TERMINATE_ALL, *dropped]), Session())
            return Answer(encoded(await runner.run(statements)))
        except StatementError as refused:
            return _refused(refused)

    return await by_leader(server, request, act)


def _refused(refused: StatementError) -> Answer:
    if refused.is_query:
        return statement_error(refused.refusal, refused.statement, QUERY_ENDPOINT)
    return statement_error(refused.refusal, refused.statement)
