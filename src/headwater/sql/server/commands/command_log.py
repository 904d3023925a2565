"""The command topic as a state: every command is run, in order, by every server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.server.commands.command import Command
from headwater.topic_state.errors import InvalidRecordError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headwater.sql.server.engine import CommandStatus, Engine
    from headwater.topic_state.leadership import Headers, Mark
    from headwater.topic_state.log import KeyValue, Record


def command_topic(service_id: str) -> str:
    """Return the topic of a service id, as ksqlDB names it.

    >>> command_topic("default_")
    '_confluent-ksql-default__command_topic'
    """
    return f"_confluent-ksql-{service_id}_command_topic"


class CommandLog:
    """Runs the topic's commands on an engine, and remembers what became of each by its offset.

    The topic is not compacted, as ksqlDB's is not: a stream that was made and replaced has two
    records of one key, and queries in between were made of the first. So nothing has ever to be
    written again for a key.
    """

    claim_key = b'"leader"'

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.last: tuple[int, CommandStatus] | None = None
        """The offset of the last command, and what became of it."""

    def decode(self, record: Record) -> Command | None:
        """Read a command; None is a claim of the lead."""
        if record.key == self.claim_key:
            return None
        if record.key is None or record.value is None:
            raise InvalidRecordError("it has no key, or no value")
        return Command.from_record(record.key, record.value)

    def apply(self, decoded: Command | None, record: Record, mark: Mark | None) -> None:
        """Run a command."""
        del mark
        if decoded is not None:
            self.last = record.offset, self._engine.run(decoded, record.offset)

    def restoring(self, key: bytes) -> Sequence[KeyValue]:
        """Return nothing: no record takes the place of another."""
        del key
        return ()

    def claim_headers(self) -> Headers:
        """Return nothing besides who leads."""
        return []
