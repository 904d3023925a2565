"""The connector for PostgreSQL, under Debezium's class name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import headwater
from headwater.connect.connectors.connector import ConnectorType
from headwater.connect.connectors.debezium.postgresql import origin, settings
from headwater.connect.connectors.debezium.source import (
    DebeziumSource,
    needed_packages,
    partition_of,
    refuse,
)

if TYPE_CHECKING:
    from headwater.config import Values
    from headwater.connect.connectors.connector import ConnectorContext, FieldError


class PostgresPlugin:
    """Captures changes from a logical replication slot."""

    class_names = ("io.debezium.connector.postgresql.PostgresConnector", "PostgresConnector")
    type = ConnectorType.SOURCE
    version = headwater.__version__
    definitions = settings.DEFINITIONS

    def check(self, config: Values) -> list[FieldError]:
        """Return what is missing, or wrong together."""
        return settings.check(config)

    def open(self, config: Values, context: ConnectorContext) -> DebeziumSource:
        """Return a source that goes on from the stored offset."""
        refuse(self.check(config))
        with needed_packages():
            from headwater.connect.connectors.debezium.postgresql.capture import PostgresCapture

        capture = PostgresCapture(config, context.stored_offset(partition_of(config)))
        return DebeziumSource(capture, config, context, "postgresql", origin.SCHEMA)
