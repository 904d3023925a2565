"""Columns out of the schema registry, for statements that declare none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.plan.registry_types import registered_type, schema_type
from headwater.serde.errors import RegistryError, RegistryUnreachableError
from headwater.sql.errors import SqlError
from headwater.sql.types.errors import TypeMismatchError
from headwater.sql.types.plan_types import from_plan

if TYPE_CHECKING:
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
            if chosen.schema_id is not None:
                schema = self._registry.get_schema(chosen.schema_id)
                return from_plan(schema_type(schema, self._registry, chosen.message).type)
            kind, subject = _KINDS[chosen.name], f"{topic}-{'key' if is_key else 'value'}"
            found = registered_type(self._registry, subject, kind, chosen.message)
            return None if found is None else from_plan(found.type)
        except (PlanError, RegistryError, RegistryUnreachableError, TypeMismatchError) as failure:
            raise SqlError(f"the schema of {topic} cannot be read: {failure}") from failure
