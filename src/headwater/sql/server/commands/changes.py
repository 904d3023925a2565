"""Statements that change something: tried first, then written to the command topic, then done."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.sql.analysis.outcomes import DropSource, Nothing, Outcome, StoreQuery
from headwater.sql.errors import SqlError
from headwater.sql.server.commands.command import CHANGES, Command, CommandId
from headwater.sql.server.commands.resolved_statements import resolved
from headwater.sql.server.engine import Engine, Surroundings
from headwater.sql.server.entities.statuses import current_status, warning
from headwater.sql.server.properties import DEFAULTS, OFFSET_RESET
from headwater.sql.server.queries.plans import START_OFFSETS, query_plan, stream_topics
from headwater.sql.server.topics.protobuf_subjects import register_missing
from headwater.sql.server.topics.sink_topics import needed_topic
from headwater.sql.server.topics.topics import Topic
from headwater.sql.tree.statements.control import ControlQuery
from headwater.sql.tree.statements.creation import CreateConnector

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.sql.parser.parser import ParsedStatement
    from headwater.sql.server.entities.listings import Entity
    from headwater.sql.server.server import SqlServer
    from headwater.sql.tree.statements.statement import Statement

# A job that stops in the middle of its start, and Spark's with it, takes its time.
_STOPPED_WITHIN_S = 40.0


@dataclass
class Trial:
    """An engine on which the statements of a request are tried before any of them is done."""

    server: SqlServer
    engine: Engine
    topics: dict[str, Topic]
    _number: int = field(default=10**9)

    @classmethod
    def begin(cls, server: SqlServer) -> Trial:
        """Look at what there is; blocks."""
        return cls(server, server.engine.sandbox(), server.topics.all())

    def run(self, parsed: ParsedStatement, properties: Mapping[str, str]) -> None:
        """Try a statement; blocks, and raises SqlError."""
        self._number += 1
        done = self.engine.change(
            parsed.statement, parsed.text, properties, self._number, self.around
        )
        if done.outcome is None:
            return
        new = needed_topic(parsed.statement, done.outcome, self.topics)
        if new is not None:
            self.topics[new.name] = Topic(new.name, new.partitions, new.replicas or 1)
        if isinstance(done.outcome, StoreQuery):
            config = self.server.config
            query_plan("trial", done.outcome, properties, config, config.checkpoints)

    @property
    def around(self) -> Surroundings:
        """What statements are checked against."""
        return Surroundings(self.server.schemas, self._partitions)

    def _partitions(self, topic: str) -> int | None:
        found = self.topics.get(topic)
        return None if found is None else found.partitions


def is_change(statement: Statement) -> bool:
    """Return whether only the leader can run a statement."""
    return isinstance(statement, CHANGES) and not isinstance(statement, CreateConnector)


async def run_change(
    server: SqlServer, parsed: ParsedStatement, properties: Mapping[str, str]
) -> Entity:
    """Do what a statement asks for; only while leading. Raises SqlError."""
    statement, engine = parsed.statement, server.engine
    id_ = CommandId.of(statement)
    trial = await asyncio.to_thread(Trial.begin, server)
    await asyncio.to_thread(trial.run, parsed, properties)
    outcome = await asyncio.to_thread(_outcome, server, trial, statement, properties)
    if isinstance(outcome, Nothing):
        return warning(outcome.reason, parsed.text)
    if outcome is not None:
        await _make_topic(server, statement, outcome)
        await asyncio.to_thread(register_missing, outcome, server.registry)
    command = Command(
        id_,
        resolved(statement, outcome or Nothing(""), _partitions(outcome, trial)),
        await _with_starts(server, outcome, properties),
    )
    await server.writer.write([(id_.key(), command.value())])
    assert server.log.last is not None
    number, status = server.log.last
    if status.status != "SUCCESS":
        raise SqlError(status.message)
    await asyncio.to_thread(server.stores.keep, dict(engine.metastore.sources))
    server.bring_about()
    if isinstance(statement, ControlQuery) or isinstance(outcome, DropSource):
        await asyncio.to_thread(server.jobs.wait_for_stops, _STOPPED_WITHIN_S)
    if isinstance(outcome, DropSource) and outcome.delete_topic:
        await asyncio.to_thread(server.topics.delete, outcome.source.topic)
    return current_status(str(id_), status, number, parsed.text)


def _outcome(
    server: SqlServer, trial: Trial, statement: Statement, properties: Mapping[str, str]
) -> Outcome | None:
    found = server.engine.analyse(statement, properties, trial.around)
    is_nothing = isinstance(found, Nothing) and not found.reason.startswith("there is")
    return None if is_nothing else found


async def _make_topic(server: SqlServer, statement: Statement, outcome: Outcome) -> None:
    new = needed_topic(statement, outcome, await asyncio.to_thread(server.topics.all))
    if new is not None:
        await asyncio.to_thread(
            server.topics.create, new.name, new.partitions, new.replicas, new.config
        )


def _partitions(outcome: Outcome | None, trial: Trial) -> int | None:
    source = getattr(outcome, "source", None)
    found = None if source is None else trial.topics.get(source.topic)
    return None if found is None else found.partitions


async def _with_starts(
    server: SqlServer, outcome: Outcome | None, properties: Mapping[str, str]
) -> dict[str, str]:
    """Return the properties of a command, with where its streams end, if that is its start."""
    kept = dict(properties)
    chosen = {**DEFAULTS, **server.config.properties, **properties}
    if isinstance(outcome, StoreQuery):
        kept[OFFSET_RESET] = chosen[OFFSET_RESET]
        if chosen[OFFSET_RESET] == "latest":
            kept[START_OFFSETS] = await server.push.ends_of(stream_topics(outcome))
    return kept
