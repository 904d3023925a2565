"""The SQL server, in the process of the services that need Spark."""

from __future__ import annotations

from headwater.up.services.spark import SparkServiceFactory

SQL = SparkServiceFactory(
    "sql",
    "headwater.sql.server.service:SQL",
    "SQL",
    registry_prefix="ksql.schema.registry.",
    registry_setting="ksql.schema.registry.url",
    connect_setting="ksql.connect.url",
    directory_setting="ksql.streams.state.dir",
)
