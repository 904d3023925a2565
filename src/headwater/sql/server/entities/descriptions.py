"""What DESCRIBE and EXPLAIN answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.plan.pictures.topology import describe
from headwater.plan.splitting.stages import split
from headwater.sql.analysis.query.analysed import sources_of
from headwater.sql.server.entities.listings import Entity, entity
from headwater.sql.server.entities.schemas import fields, schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.plan.plan import Plan
    from headwater.sql.analysis.query.analysed import AnalysedQuery
    from headwater.sql.metastore.source import DataSource
    from headwater.sql.server.queries.persistent_query import PersistentQuery
    from headwater.sql.server.queries.query_jobs import QueryState
    from headwater.sql.server.topics.topics import Topic


@dataclass(frozen=True)
class SourceFacts:
    """What is known of a stream or table besides its columns."""

    statement: str
    readers: Iterable[PersistentQuery]
    writers: Iterable[PersistentQuery]
    topic: Topic | None = None
    """Only where it was asked for, with EXTENDED."""


def source_description(source: DataSource, facts: SourceFacts) -> Entity:
    """Return a stream or table."""
    window = source.window
    return {
        "name": source.name,
        "windowType": None if window is None else window.kind.value,
        "readQueries": [_short(query) for query in facts.readers],
        "writeQueries": [_short(query) for query in facts.writers],
        "fields": fields(source),
        "type": source.kind.value,
        "timestamp": "" if source.timestamp is None else source.timestamp.name,
        "statistics": "",
        "errorStats": "",
        "extended": facts.topic is not None,
        "keyFormat": source.key_format.name,
        "valueFormat": source.value_format.name,
        "topic": source.topic,
        "partitions": 0 if facts.topic is None else facts.topic.partitions,
        "replication": 0 if facts.topic is None else facts.topic.replicas,
        "statement": f"{facts.statement};",
        "queryOffsetSummaries": [],
        "sourceConstraints": [],
        "clusterStatistics": [],
        "clusterErrorStats": [],
    }


def described(source: DataSource, facts: SourceFacts, statement: str) -> Entity:
    """Return what DESCRIBE answers."""
    description = source_description(source, facts)
    return entity("sourceDescription", statement, sourceDescription=description)


def all_described(found: Iterable[tuple[DataSource, SourceFacts]], statement: str) -> Entity:
    """Return what DESCRIBE STREAMS and SHOW STREAMS EXTENDED answer."""
    descriptions = [source_description(source, facts) for source, facts in found]
    return entity("source_descriptions", statement, sourceDescriptions=descriptions)


@dataclass(frozen=True)
class QueryFacts:
    """What is known of a query besides its plan."""

    id: str
    statement: str
    sinks: tuple[str, ...]
    kind: str
    state: QueryState | None = None
    host: str = ""
    properties: Mapping[str, str] | None = None


def query_description(
    query: AnalysedQuery, plan: Plan | None, facts: QueryFacts, statement: str
) -> Entity:
    """Return what EXPLAIN answers: the topology is that of Kafka Streams' own pictures."""
    window = query.key_window
    topology = "Computed from its topic, row by row." if plan is None else describe(split(plan))
    state = facts.state
    description: dict[str, Any] = {
        "id": facts.id,
        "statementText": f"{facts.statement};",
        "windowType": None if window is None else window.kind.value,
        "fields": [
            {"name": column.name, "schema": schema(column.value.type)} for column in query.selected
        ],
        "sources": [read.source.name for read in sources_of(query.relation)],
        "sinks": list(facts.sinks),
        "topology": topology,
        "executionPlan": topology,
        "overriddenProperties": dict(facts.properties or {}),
        "ksqlHostQueryStatus": {} if state is None else {facts.host: state.state},
        "queryType": facts.kind,
        "queryErrors": _errors(state),
        "tasksMetadata": [],
        "state": None if state is None else state.state,
    }
    return entity("queryDescription", statement, queryDescription=description)


def _errors(state: QueryState | None) -> list[dict[str, Any]]:
    if state is None or not state.error:
        return []
    return [{"errorMessage": state.error, "type": "SYSTEM"}]


def _short(query: PersistentQuery) -> dict[str, Any]:
    return {
        "queryString": f"{query.statement};",
        "sinks": [query.sink],
        "sinkKafkaTopics": [query.stored.sink.topic],
        "id": query.id,
        "queryType": "PERSISTENT",
    }
