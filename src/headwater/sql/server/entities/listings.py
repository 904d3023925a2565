"""What SHOW and LIST answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headwater.sql.functions.catalogue.all_functions import FUNCTIONS, find_function
from headwater.sql.server.entities.schemas import schema
from headwater.sql.server.properties import DEFAULTS, QUERY_PROPERTIES
from headwater.sql.server.topics.readers import Readers
from headwater.sql.tree.statements.creation import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.sql.metastore.source import DataSource
    from headwater.sql.server.queries.persistent_query import PersistentQuery
    from headwater.sql.server.queries.query_jobs import QueryState
    from headwater.sql.server.topics.topics import Topic
    from headwater.sql.types.sql_type import SqlType
    from headwater.sql.variables import Variables

Entity = dict[str, Any]


def entity(kind: str, statement: str, **parts: Any) -> Entity:
    """Return an entity of a kind, with what all of them have."""
    return {"@type": kind, "statementText": f"{statement};", **parts, "warnings": []}


def sources(kind: SourceKind, found: Iterable[DataSource], statement: str) -> Entity:
    """Return the streams, or the tables."""
    listed = [
        {
            "type": source.kind.value,
            "name": source.name,
            "topic": source.topic,
            "keyFormat": source.key_format.name,
            "valueFormat": source.value_format.name,
            "isWindowed": source.is_windowed,
        }
        for source in sorted(found, key=lambda each: each.name)
        if source.kind is kind
    ]
    word = "streams" if kind is SourceKind.STREAM else "tables"
    return entity(word, statement, **{word: listed})


def topics(
    found: Iterable[Topic],
    statement: str,
    *,
    with_internal: bool,
    readers: Mapping[str, Readers] | None = None,
) -> Entity:
    """Return the topics, with who reads them; internal ones are asked for by SHOW ALL TOPICS."""
    listed: list[Entity] = []
    for topic in sorted(found):
        if with_internal or not topic.name.startswith("_"):
            replicas = [topic.replicas] * topic.partitions
            told: Entity = {"name": topic.name, "replicaInfo": replicas}
            if readers is not None:
                of_topic = readers.get(topic.name, Readers())
                told |= {
                    "consumerCount": of_topic.consumers,
                    "consumerGroupCount": len(of_topic.groups),
                }
            listed.append(told)
    kind = "kafka_topics" if readers is None else "kafka_topics_extended"
    return entity(kind, statement, topics=listed)


def queries(
    found: Iterable[tuple[PersistentQuery, QueryState]], push: Iterable[str], statement: str
) -> Entity:
    """Return the queries that run."""
    listed: list[Entity] = [
        {
            "queryString": f"{query.statement};",
            "sinks": [query.sink],
            "sinkKafkaTopics": [query.stored.sink.topic],
            "id": query.id,
            "statusCount": {state.state: 1},
            "queryType": "PERSISTENT",
            "state": state.state,
        }
        for query, state in found
    ]
    listed += [
        {
            "queryString": "",
            "sinks": [],
            "sinkKafkaTopics": [],
            "id": query_id,
            "statusCount": {"RUNNING": 1},
            "queryType": "PUSH",
            "state": "RUNNING",
        }
        for query_id in push
    ]
    return entity("queries", statement, queries=listed)


def functions(statement: str) -> Entity:
    """Return the names of all functions."""
    listed = [
        {"name": function.name, "type": function.kind.value, "category": function.category}
        for function in FUNCTIONS.values()
    ]
    return entity("function_names", statement, functions=listed)


def function(name: str, statement: str) -> Entity:
    """Return what a function is for, and the ways to call it; raises UnknownFunctionError."""
    found = find_function(name)
    ways = [
        {
            "arguments": [
                {
                    "name": parameter.name,
                    "type": str(parameter.shape),
                    "description": "",
                    "isVariadic": parameter.is_variadic,
                }
                for parameter in signature.parameters
            ],
            "returnType": str(signature.result),
            "description": found.description,
        }
        for signature in found.signatures
    ]
    return entity(
        "describe_function",
        statement,
        name=found.name,
        description=found.description,
        author="Headwater",
        version="",
        path="internal",
        functions=ways,
        type=found.kind.value,
    )


def types(found: Mapping[str, SqlType], statement: str) -> Entity:
    """Return the types of CREATE TYPE."""
    return entity(
        "type_list", statement, types={name: schema(type_) for name, type_ in found.items()}
    )


def variables(found: Variables, statement: str) -> Entity:
    """Return the variables of the session."""
    listed = [{"name": name, "value": value} for name, value in sorted(found)]
    return entity("variables", statement, variables=listed)


def properties(
    of_server: Mapping[str, str], of_session: Mapping[str, str], statement: str
) -> Entity:
    """Return the properties of queries, with those that the session has set."""
    values = {**dict.fromkeys(QUERY_PROPERTIES, ""), **DEFAULTS, **of_server, **of_session}
    listed = [
        {
            "name": name,
            "scope": "KSQL",
            "value": value,
            "editable": name in QUERY_PROPERTIES,
            "level": "QUERY" if name in QUERY_PROPERTIES else "SERVER",
        }
        for name, value in sorted(values.items())
    ]
    return entity(
        "properties",
        statement,
        properties=listed,
        overwrittenProperties=sorted(of_session),
        defaultProperties=sorted(set(values) - set(of_session)),
    )
