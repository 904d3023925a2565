"""ASSERT TOPIC and ASSERT SCHEMA: wait until something is there, or is not."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from headwater.serde.errors import RegistryError, RegistryUnreachableError
from headwater.sql.analysis.durations import milliseconds
from headwater.sql.errors import SqlError
from headwater.sql.server.entities.statuses import assertion
from headwater.sql.tree.statements.assertions import AssertTopic

if TYPE_CHECKING:
    from headwater.sql.server.entities.listings import Entity
    from headwater.sql.server.server import SqlServer
    from headwater.sql.tree.statements.assertions import AssertSchema

_WITHIN_S = 1.0
_LOOK_EVERY_S = 0.1


async def asserted(server: SqlServer, statement: AssertTopic | AssertSchema, text: str) -> Entity:
    """Return the entity of an assertion that holds; raises SqlError for one that does not."""
    timeout = statement.timeout
    deadline = time.monotonic() + (_WITHIN_S if timeout is None else milliseconds(timeout) / 1000)
    while True:
        if isinstance(statement, AssertTopic):
            wrong = await asyncio.to_thread(_wrong_topic, server, statement)
        else:
            wrong = await asyncio.to_thread(_wrong_schema, server, statement)
        if wrong is None:
            break
        if time.monotonic() >= deadline:
            raise SqlError(wrong, statement.location)
        await asyncio.sleep(_LOOK_EVERY_S)
    if isinstance(statement, AssertTopic):
        return assertion("topic", text, topicName=statement.topic, exists=statement.exists)
    return assertion(
        "schema",
        text,
        subject=statement.subject,
        id=statement.schema_id,
        exists=statement.exists,
    )


def _wrong_topic(server: SqlServer, statement: AssertTopic) -> str | None:
    found = server.topics.all().get(statement.topic)
    if (found is not None) is not statement.exists:
        return f"Topic {statement.topic} {'does not exist' if statement.exists else 'exists'}."
    if found is None:
        return None
    has = {"PARTITIONS": found.partitions, "REPLICAS": found.replicas}
    for given in statement.properties:
        name, wanted = given.name.upper(), str(getattr(given.value, "value", None))
        if name not in has:
            return f"Cannot assert unknown topic property: {name}."
        if wanted != str(has[name]):
            return (
                f"Mismatched configuration for topic {statement.topic}: For config {name}, "
                f"expected {wanted} got {has[name]}"
            )
    return None


def _wrong_schema(server: SqlServer, statement: AssertSchema) -> str | None:
    if server.registry is None:
        return "no registry is configured: set ksql.schema.registry.url"
    try:
        if statement.subject is not None and statement.schema_id is not None:
            version = server.registry.get_latest_version(statement.subject)
            is_there = version.id == statement.schema_id
        elif statement.subject is not None:
            is_there = statement.subject in server.registry.get_subjects()
        else:
            server.registry.get_schema(statement.schema_id or 0)
            is_there = True
    except RegistryError:
        is_there = False
    except RegistryUnreachableError as failure:
        return str(failure)
    if is_there is statement.exists:
        return None
    subject = "" if statement.subject is None else f" subject name {statement.subject}"
    id_ = "" if statement.schema_id is None else f" id {statement.schema_id}"
    return f"Schema with{subject}{id_} {'does not exist' if statement.exists else 'exists'}"
