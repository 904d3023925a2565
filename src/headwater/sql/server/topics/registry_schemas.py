"""Columns out of the schema registry, for statements that declare none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.schemas.registry_types import registered_type, schema_type
from headwater.serde import Schema
from headwater.serde.errors import RegistryError, RegistryUnreachableError
from headwater.serde.formats.protobuf_codec import descriptor_of, load_file
from headwater.sql.errors import SqlError
from headwater.sql.server.rows.protobuf import with_times
from headwater.sql.server.topics.connect_words import with_connect_words
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.plan_types import from_plan

if TYPE_CHECKING:
    from headwater.plan.schemas.registry_types import SchemaType
    from headwater.serde import SchemaRegistryClient
    from headwater.sql.metastore.formats import ChosenFormat
    from headwater.sql.types.sql_type import SqlType

_KINDS = {"AVRO": "avro", "JSON_SR": "jsonschema", "PROTOBUF": "protobuf"}


class RegistrySchemas:
    """Asks the registry; blocks."""

    def __init__(self, registry: SchemaRegistryClient | None) -> None:
        self._registry = registry

    def find(self, topic: str, chosen: ChosenFormat, *, is_key: bool) -> SqlType | None:
        """Return the type of a topic's keys or values, or None if none is known."""
        if self._registry is None:
            raise SqlError(
                f"the columns of {topic} are the registry's, and none is configured: declare them, "
                "or set ksql.schema.registry.url"
            )
        try:
            return self._found(self._registry, topic, chosen, is_key=is_key)
        except (PlanError, RegistryError, RegistryUnreachableError, TypeMismatchError) as failure:
            raise SqlError(f"the schema of {topic} cannot be read: {failure}") from failure

    def _found(
        self, registry: SchemaRegistryClient, topic: str, chosen: ChosenFormat, *, is_key: bool
    ) -> SqlType | None:
        if chosen.schema_id is not None:
            schema = registry.get_schema(chosen.schema_id)
            found = schema_type(schema, registry, chosen.message)
        else:
            subject = f"{topic}-{'key' if is_key else 'value'}"
            registered = registered_type(registry, subject, _KINDS[chosen.name], chosen.message)
            if registered is None:
                return None
            found = registered
        return type_of(found, chosen, registry)


def type_of(found: SchemaType, chosen: ChosenFormat, registry: SchemaRegistryClient) -> SqlType:
    """Return the type that the language has for a schema; raises TypeMismatchError."""
    type_ = from_plan(found.type)
    if chosen.name == "JSON_SR":
        return with_connect_words(type_, json.loads(found.text))
    if chosen.name != "PROTOBUF":
        return type_
    schema = Schema(found.text, "PROTOBUF", found.references)
    message = load_file(schema, registry).class_named(chosen.message)
    return with_times(type_, descriptor_of(message))
