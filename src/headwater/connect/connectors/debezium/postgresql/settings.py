"""The properties of Debezium's connector for PostgreSQL."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from headwater.config import (
    NOT_EMPTY,
    ConfigDef,
    ConfigType,
    Definitions,
    Importance,
    Validator,
    one_of,
)
from headwater.connect.connectors.connector import FieldError
from headwater.connect.connectors.debezium.settings import check_common, common_definitions, lists

if TYPE_CHECKING:
    from headwater.config import Values

_SLOT = Validator(
    "small letters, digits and _, at most 63",
    lambda value: value is None or re.fullmatch(r"[a-z0-9_]{1,63}", value) is not None,
)

DEFINITIONS = Definitions(
    "PostgresConnector",
    *common_definitions(
        5432, "schema.table", ("adaptive", "adaptive_time_microseconds", "connect")
    ),
    ConfigDef(
        "database.dbname",
        ConfigType.STRING,
        None,
        "The database whose tables are captured.",
        NOT_EMPTY,
        importance=Importance.HIGH,
    ),
    ConfigDef(
        "database.sslmode",
        ConfigType.STRING,
        "prefer",
        "Whether the connection is encrypted, as PostgreSQL's own clients have it.",
        one_of("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    ),
    *lists("schema", "names of schemas"),
    ConfigDef(
        "plugin.name",
        ConfigType.STRING,
        "pgoutput",
        "The server's plug-in that decodes its log; pgoutput is part of PostgreSQL.",
        one_of("pgoutput"),
    ),
    ConfigDef(
        "slot.name",
        ConfigType.STRING,
        "debezium",
        "The replication slot, created if it is not there. A connector needs one of its own.",
        _SLOT,
    ),
    ConfigDef(
        "publication.name",
        ConfigType.STRING,
        "dbz_publication",
        "The publication, which says whose changes the server decodes.",
        NOT_EMPTY,
    ),
    ConfigDef(
        "publication.autocreate.mode",
        ConfigType.STRING,
        "all_tables",
        "What is done if there is no such publication: one is made for all tables, which takes a "
        "superuser, for the captured ones (`filtered`), for none, or it is an error (`disabled`).",
        one_of("all_tables", "filtered", "no_tables", "disabled"),
    ),
    ConfigDef(
        "unavailable.value.placeholder",
        ConfigType.STRING,
        "__debezium_unavailable_value",
        "What stands for a large value that an update did not change, and which PostgreSQL does "
        "not tell without REPLICA IDENTITY FULL.",
        importance=Importance.LOW,
    ),
)


def check(config: Values) -> list[FieldError]:
    """Return what is missing, or wrong together."""
    errors = check_common(config)
    if not config.text("database.dbname"):
        errors.append(FieldError("database.dbname", "it is needed, such as shop"))
    return errors
