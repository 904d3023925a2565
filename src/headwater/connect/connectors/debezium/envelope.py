"""The schemas of change events: keys, rows, the envelope around them, and what is beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from headwater.connect.data.schema import Field, Schema, Type, struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from headwater.connect.connectors.debezium.table import Column, Table

TEXT, NUMBER = Schema(Type.STRING), Schema(Type.INT64)
OPTIONAL_TEXT, OPTIONAL_NUMBER = TEXT.as_optional(), NUMBER.as_optional()

_ENVELOPE_VERSION = 2
_SNAPSHOTS = "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental"
_TRANSACTION = replace(
    struct(
        {"id": TEXT, "total_order": NUMBER, "data_collection_order": NUMBER}, name="event.block"
    ),
    optional=True,
    version=1,
)


def enumeration(allowed: Iterable[str], *, optional: bool = False) -> Schema:
    """Return the schema of a text that is one of a few."""
    parameters = {"allowed": ",".join(allowed)}
    return Schema(Type.STRING, optional, "io.debezium.data.Enum", 1, parameters=parameters)


def source_schema(connector: str, own: Mapping[str, Schema]) -> Schema:
    """Return the schema of where an event comes from; each database has some fields of its own."""
    snapshot = enumeration(_SNAPSHOTS.split(","), optional=True)
    fields = {
        "version": TEXT,
        "connector": TEXT,
        "name": TEXT,
        "ts_ms": NUMBER,
        "snapshot": replace(snapshot, default="false"),
        "db": TEXT,
        "sequence": OPTIONAL_TEXT,
        "ts_us": OPTIONAL_NUMBER,
        "ts_ns": OPTIONAL_NUMBER,
        **own,
    }
    return struct(fields, name=f"io.debezium.connector.{connector}.Source")


def key_schema(table: Table) -> Schema | None:
    """Return the schema of a table's keys; None for one without a primary key."""
    return _row(table.key, f"{table.topic}.Key") if table.key else None


def envelope_schema(table: Table, source: Schema) -> Schema:
    """Return the schema of a table's events."""
    row = _row(table.columns, f"{table.topic}.Value").as_optional()
    fields = {
        "before": row,
        "after": row,
        "source": source,
        "transaction": _TRANSACTION,
        "op": TEXT,
        "ts_ms": OPTIONAL_NUMBER,
        "ts_us": OPTIONAL_NUMBER,
        "ts_ns": OPTIONAL_NUMBER,
    }
    return replace(struct(fields, name=f"{table.topic}.Envelope"), version=_ENVELOPE_VERSION)


def _row(columns: Iterable[Column], name: str) -> Schema:
    fields = tuple(Field(column.name, column.schema) for column in columns)
    return Schema(Type.STRUCT, name=name, fields=fields)


HEARTBEAT_KEY = struct({"serverName": TEXT}, name="io.debezium.connector.common.ServerNameKey")
HEARTBEAT_VALUE = struct({"ts_ms": NUMBER}, name="io.debezium.connector.common.Heartbeat")


def schema_change_schemas(connector: str, source: Schema) -> tuple[Schema, Schema]:
    """Return the schemas of the key and value of a record that tells of changed tables."""
    space = f"io.debezium.connector.{connector}"
    value = {
        "source": source,
        "ts_ms": NUMBER,
        "databaseName": OPTIONAL_TEXT,
        "schemaName": OPTIONAL_TEXT,
        "ddl": OPTIONAL_TEXT,
    }
    return (
        struct({"databaseName": TEXT}, name=f"{space}.SchemaChangeKey"),
        struct(value, name=f"{space}.SchemaChangeValue"),
    )
