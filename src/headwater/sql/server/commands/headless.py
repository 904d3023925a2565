"""A server whose statements are those of a file, as ksqlDB's headless mode has it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from headwater.http.errors import StartError
from headwater.sql.errors import SqlError
from headwater.sql.formatter.statements import format_statement
from headwater.sql.server.session import Session
from headwater.sql.server.statements import StatementError, StatementRunner, read
from headwater.sql.tree.statements.changes import InsertSelect
from headwater.sql.tree.statements.creation import CreateAsSelect, CreateSource, CreateType
from headwater.topic_state.errors import NotLeaderError, TopicStateError

if TYPE_CHECKING:
    from pathlib import Path

    from headwater.sql.server.server import SqlServer
    from headwater.sql.tree.statements.statement import Statement

_LOOK_EVERY_S = 1.0


async def run_file(server: SqlServer, path: Path) -> None:
    """Run those statements of a file that were not run before; raises StartError.

    What another server with this file has made is there already: then nothing is left to do.
    """
    session = Session()
    try:
        statements = read(await asyncio.to_thread(path.read_text, encoding="utf-8"), session)
        runner = StatementRunner(server, session)
        while True:
            left = [each for each in statements if not _is_done(server, each.statement)]
            if not any(not _is_of_session(each.statement) for each in left):
                return
            try:
                async with server.writer.leading():
                    for parsed in left:
                        if not _is_done(server, parsed.statement):
                            await runner.run([parsed])
                return
            except NotLeaderError:
                await server.writer.wait_for_change(_LOOK_EVERY_S)
    except (StatementError, SqlError, TopicStateError) as failure:
        raise StartError(f"{path}: {failure}") from failure
    except OSError as failure:
        raise StartError(f"{path}: {failure.strerror}") from failure


def _is_of_session(statement: Statement) -> bool:
    return not isinstance(statement, CreateSource | CreateAsSelect | CreateType | InsertSelect)


def _is_done(server: SqlServer, statement: Statement) -> bool:
    engine = server.engine
    match statement:
        case CreateSource(_, name) | CreateAsSelect(_, name):
            return engine.metastore.find(name) is not None
        case CreateType(name):
            return name in engine.metastore.types
        case InsertSelect():
            text = format_statement(statement)
            return any(query.statement == text for query in engine.queries.values())
        case _:
            return False
