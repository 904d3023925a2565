"""The properties of Debezium's connectors for MariaDB and MySQL."""

from __future__ import annotations

from headwater.config import ConfigDef, ConfigType, Definitions, Importance, between, one_of
from headwater.connect.connectors.debezium.settings import common_definitions, lists

TIMES = ("adaptive_time_microseconds", "connect")
_MOST_SERVER_ID = 2**32 - 1


def definitions(service: str) -> Definitions:
    """Return the properties; MariaDB's and MySQL's connector have the same."""
    return Definitions(
        service,
        *common_definitions(3306, "database.table", TIMES),
        *lists("database", "names of databases"),
        ConfigDef(
            "database.server.id",
            ConfigType.LONG,
            None,
            "The number under which the connector follows the binlog as a replica; no other "
            "replica may have it. By default one from 5400 to 6400 by chance.",
            between(1, _MOST_SERVER_ID),
        ),
        ConfigDef(
            "include.schema.changes",
            ConfigType.BOOLEAN,
            True,
            "Whether statements that change tables are told, in the topic `topic.prefix`.",
        ),
        ConfigDef(
            "bigint.unsigned.handling.mode",
            ConfigType.STRING,
            "long",
            "What BIGINT UNSIGNED becomes: an int64 (`long`), where a number from 2^63 on fails "
            "the connector, or a Decimal (`precise`).",
            one_of("long", "precise"),
        ),
        ConfigDef(
            "connect.timeout.ms",
            ConfigType.INT,
            30_000,
            "How long to wait for a connection.",
            between(1, 2**31 - 1),
            importance=Importance.LOW,
        ),
    )
