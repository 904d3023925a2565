"""The topics of streams and tables: which have to be there, and which a statement makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from headwater.sql.analysis.outcomes import MakeSource, Outcome, StoreQuery
from headwater.sql.analysis.properties import OF_QUERIES, OF_SOURCES, Properties
from headwater.sql.analysis.query.analysed import sources_of
from headwater.sql.errors import SqlError
from headwater.sql.tree.statements.creation import CreateAsSelect, CreateSource, SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from headwater.sql.metastore.source import DataSource
    from headwater.sql.server.topics.topics import Topic
    from headwater.sql.tree.statements.statement import Statement

_DAY_MS = 86_400_000


@dataclass(frozen=True)
class NewTopic:
    """A topic that a statement needs and that is not there."""

    name: str
    partitions: int
    replicas: int | None = None
    config: Mapping[str, str] = field(default_factory=dict)


def needed_topic(
    statement: Statement, outcome: Outcome, there: Mapping[str, Topic]
) -> NewTopic | None:
    """Return the topic to make before a statement is run; raises SqlError for one that is unfit."""
    match statement, outcome:
        case CreateSource(), MakeSource(source):
            given = Properties(statement.properties, OF_SOURCES)
            partitions = given.number("PARTITIONS")
        case CreateAsSelect(), StoreQuery(_, source, True):
            given = Properties(statement.properties, OF_QUERIES)
            partitions = given.number("PARTITIONS")
        case _:
            return None
    found = there.get(source.topic)
    if found is not None:
        if partitions is not None and partitions != found.partitions:
            raise SqlError(
                f"A Kafka topic with the name '{source.topic}' already exists, with different "
                f"partition/replica configuration than required. KSQL expects {partitions} "
                f"partitions (topic has {found.partitions})",
                given.location("PARTITIONS"),
            )
        return None
    if partitions is None and isinstance(outcome, StoreQuery):
        partitions = _partitions_of_first(outcome, there)
    if partitions is None:
        raise SqlError(
            f"Topic '{source.topic}' does not exist. If you want to create a new topic for the "
            "stream/table please re-run the statement providing the required 'PARTITIONS' "
            "configuration in the WITH clause (and optionally 'REPLICAS')",
            statement.location,
        )
    config = _config(source, given)
    return NewTopic(source.topic, partitions, given.number("REPLICAS"), config)


def _partitions_of_first(stored: StoreQuery, there: Mapping[str, Topic]) -> int:
    (first, *_) = sources_of(stored.query.relation)
    topic = there.get(first.source.topic)
    return topic.partitions if topic is not None else first.source.partitions or 1


def _config(source: DataSource, given: Properties) -> dict[str, str]:
    config = {}
    if source.kind is SourceKind.TABLE:
        config["cleanup.policy"] = "compact"
        if source.window is not None:
            config["cleanup.policy"] = "compact,delete"
            kept = (source.window.size_ms or 0) + _DAY_MS
            config["retention.ms"] = str(max(kept, 7 * _DAY_MS))
    policy, retention = given.text("CLEANUP_POLICY"), given.number("RETENTION_MS")
    if policy is not None:
        config["cleanup.policy"] = policy
    if retention is not None:
        config["retention.ms"] = str(retention)
    return config
