"""The stream of the processing log, which a new cluster of servers may make by itself."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from headwater.sql.errors import SqlError
from headwater.sql.server.commands.command import CommandId
from headwater.sql.server.session import Session
from headwater.sql.server.statements import StatementError, StatementRunner, read
from headwater.topic_state.errors import NotLeaderError, TopicStateError

if TYPE_CHECKING:
    from headwater.sql.server.server import SqlServer

logger = logging.getLogger("headwater.sql")

_LOOK_EVERY_S = 1.0
_COLUMNS = """
logger STRING, level STRING, time BIGINT,
message STRUCT<
  type INTEGER,
  deserializationError STRUCT<
    target STRING, errorMessage STRING, recordB64 STRING, cause ARRAY<STRING>, `topic` STRING>,
  recordProcessingError STRUCT<errorMessage STRING, record STRING, cause ARRAY<STRING>>,
  productionError STRUCT<errorMessage STRING>,
  serializationError STRUCT<
    target STRING, errorMessage STRING, record STRING, cause ARRAY<STRING>, `topic` STRING>,
  kafkaStreamsThreadError STRUCT<
    errorMessage STRING, threadName STRING, cause ARRAY<STRING>>>
"""


async def make_stream(server: SqlServer) -> None:
    """Make a stream of the log, unless it was made before: whoever drops it is rid of it."""
    session = Session()
    (parsed,) = read(stream_statement(server.config.log.stream, server.config.log.topic), session)
    id_ = str(CommandId.of(parsed.statement))
    try:
        while id_ not in server.engine.statuses:
            try:
                async with server.writer.leading():
                    if id_ not in server.engine.statuses:
                        await StatementRunner(server, session).run([parsed])
            except NotLeaderError:
                await server.writer.wait_for_change(_LOOK_EVERY_S)
    except (StatementError, SqlError, TopicStateError):
        logger.exception("%s cannot be made", server.config.log.stream)


def stream_statement(stream: str, topic: str) -> str:
    """Return the statement that makes a stream of the log."""
    return (
        f"CREATE STREAM {stream} ({' '.join(_COLUMNS.split())}) "
        f"WITH (KAFKA_TOPIC='{topic}', KEY_FORMAT='KAFKA', VALUE_FORMAT='JSON');"
    )
