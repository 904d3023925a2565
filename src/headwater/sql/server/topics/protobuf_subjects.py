"""Schemas of new streams and tables in PROTOBUF, which ksqlDB registers when it makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.plan.errors import PlanError
from headwater.serde import Schema
from headwater.serde.errors import RegistryError, RegistryUnreachableError
from headwater.sql.analysis.outcomes import MakeSource, StoreQuery
from headwater.sql.errors import SqlError
from headwater.sql.server.rows.protobuf import schema_of
from headwater.sql.types.sql_type import Struct

if TYPE_CHECKING:
    from headwater.serde import SchemaRegistryClient
    from headwater.sql.analysis.outcomes import Outcome
    from headwater.sql.metastore.source import DataSource


def register_missing(outcome: Outcome, registry: SchemaRegistryClient | None) -> None:
    """Register what the topics of a new source have no schemas for; blocks, raises SqlError."""
    match outcome:
        case MakeSource(source) | StoreQuery(_, source, True):
            _register(source, registry)
        case _:
            pass


def _register(source: DataSource, registry: SchemaRegistryClient | None) -> None:
    for side, chosen, columns in (
        ("key", source.key_format, source.key),
        ("value", source.value_format, source.value),
    ):
        if chosen.name != "PROTOBUF" or chosen.schema_id is not None or not columns:
            continue
        if registry is None:
            raise SqlError("the PROTOBUF format needs a registry: set ksql.schema.registry.url")
        subject = f"{source.topic}-{side}"
        struct = Struct(tuple((column.name, column.type) for column in columns))
        try:
            if subject not in registry.get_subjects():
                schema = Schema(schema_of(struct, chosen.message), "PROTOBUF")
                registry.register_schema(subject, schema)
        except (PlanError, RegistryError, RegistryUnreachableError) as failure:
            raise SqlError(f"the schema of {subject} cannot be registered: {failure}") from failure
