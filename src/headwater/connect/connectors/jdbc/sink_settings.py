"""The properties of the JDBC sink, under the names of Confluent's connector."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    at_least,
    one_of,
)
from headwater.connect.connectors.connector import FieldError
from headwater.connect.connectors.jdbc.settings import DATABASE_DEFINITIONS, check_database

if TYPE_CHECKING:
    from headwater.config import Values


class InsertMode(StrEnum):
    """What becomes of a record's row."""

    INSERT = "insert"
    UPSERT = "upsert"
    UPDATE = "update"


class KeyMode(StrEnum):
    """Where the columns of the primary key come from."""

    NONE = "none"
    KAFKA = "kafka"
    RECORD_KEY = "record_key"
    RECORD_VALUE = "record_value"
    RECORD_HEADER = "record_header"


_HIGH, _LOW = Importance.HIGH, Importance.LOW

SINK_DEFINITIONS = Definitions(
    "JdbcSink",
    *DATABASE_DEFINITIONS,
    ConfigDef(
        "insert.mode",
        ConfigType.STRING,
        "insert",
        "Whether each record adds a row (`insert`), adds one or changes the one that has its key "
        "(`upsert`), or only changes it (`update`).",
        one_of(*(mode.value for mode in InsertMode)),
        importance=_HIGH,
    ),
    ConfigDef(
        "pk.mode",
        ConfigType.STRING,
        "none",
        "Where the columns of the primary key come from: there are none, the record's topic, "
        "partition and offset (`kafka`), or its key, value or headers.",
        one_of(*(mode.value for mode in KeyMode)),
        importance=_HIGH,
    ),
    ConfigDef(
        "pk.fields",
        ConfigType.LIST,
        (),
        "The columns of the primary key. By default all fields of the key or value, or "
        "`__connect_topic,__connect_partition,__connect_offset`; for a key that is no struct, one "
        "name; for headers, their names.",
    ),
    ConfigDef(
        "fields.whitelist",
        ConfigType.LIST,
        (),
        "The fields of the value that are written; by default all. Keys are written anyway.",
    ),
    ConfigDef(
        "table.name.format",
        ConfigType.STRING,
        "${topic}",
        "The table of a topic's records; `${topic}` is the topic's name.",
        NOT_EMPTY,
    ),
    ConfigDef(
        "delete.enabled",
        ConfigType.BOOLEAN,
        False,
        "Whether a record without a value deletes the row of its key; needs `pk.mode=record_key`.",
    ),
    ConfigDef(
        "auto.create",
        ConfigType.BOOLEAN,
        False,
        "Create a table that is missing, with columns for the fields of the records.",
    ),
    ConfigDef(
        "auto.evolve",
        ConfigType.BOOLEAN,
        False,
        "Add columns that a table lacks, for fields that are optional or have a default.",
    ),
    ConfigDef(
        "batch.size",
        ConfigType.INT,
        3000,
        "How many rows are sent to the database at a time.",
        at_least(1),
    ),
    ConfigDef(
        "max.retries",
        ConfigType.INT,
        10,
        "How often a batch is tried again when the database fails.",
        at_least(0),
    ),
    ConfigDef(
        "retry.backoff.ms",
        ConfigType.INT,
        3000,
        "How long to wait before it is tried again.",
        at_least(0),
    ),
    ConfigDef(
        "offsets.table",
        ConfigType.STRING,
        "headwater_connect_offsets",
        "The table, created if need be, that says up to where `insert.mode=insert` has written; it "
        "is changed with the rows in one transaction. Empty: none, and rows may come twice after a "
        "crash.",
        importance=_LOW,
    ),
)


def check_sink(config: Values) -> list[FieldError]:
    """Return what is wrong with the properties together."""
    errors = check_database(config)
    mode, keys = config.text("insert.mode"), config.text("pk.mode")
    if keys == KeyMode.NONE and mode != InsertMode.INSERT:
        errors.append(
            FieldError("pk.mode", f"insert.mode={mode} needs a key, such as pk.mode=record_key")
        )
    if config.boolean("delete.enabled") and keys != KeyMode.RECORD_KEY:
        errors.append(FieldError("delete.enabled", "it needs pk.mode=record_key"))
    fields = config.words("pk.fields")
    if keys == KeyMode.KAFKA and len(fields) not in (0, 3):
        message = "pk.mode=kafka takes three names, for topic, partition and offset, or none"
        errors.append(FieldError("pk.fields", message))
    if keys == KeyMode.RECORD_HEADER and not fields:
        errors.append(FieldError("pk.fields", "pk.mode=record_header needs the headers' names"))
    return errors
