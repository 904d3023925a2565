"""The connectors for MariaDB and MySQL, under Debezium's class names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import headwater
from headwater.connect.connectors.connector import ConnectorType
from headwater.connect.connectors.debezium.mysql import origin
from headwater.connect.connectors.debezium.mysql.settings import definitions
from headwater.connect.connectors.debezium.settings import check_common
from headwater.connect.connectors.debezium.source import (
    DebeziumSource,
    needed_packages,
    partition_of,
    refuse,
)

if TYPE_CHECKING:
    from headwater.config import Definitions, Values
    from headwater.connect.connectors.connector import ConnectorContext, FieldError


class MySqlPlugin:
    """Captures changes from the binlog; MariaDB's and MySQL's differ in names alone."""

    type = ConnectorType.SOURCE
    version = headwater.__version__

    def __init__(self, class_name: str, connector: str) -> None:
        self._connector = connector
        self.class_names = (class_name, class_name.rpartition(".")[2])

    @property
    def definitions(self) -> Definitions:
        """The properties."""
        return _DEFINITIONS[self._connector]

    def check(self, config: Values) -> list[FieldError]:
        """Return what is missing, or wrong together."""
        return check_common(config)

    def open(self, config: Values, context: ConnectorContext) -> DebeziumSource:
        """Return a source that goes on from the stored offset."""
        refuse(self.check(config))
        with needed_packages():
            from headwater.connect.connectors.debezium.mysql.capture import MySqlCapture

        stored = context.stored_offset(partition_of(config))
        capture = MySqlCapture(config, stored, self._connector)
        schema = origin.schema(self._connector)
        return DebeziumSource(capture, config, context, self._connector, schema)


_DEFINITIONS = {"mysql": definitions("MySqlConnector"), "mariadb": definitions("MariaDbConnector")}

MYSQL = MySqlPlugin("io.debezium.connector.mysql.MySqlConnector", "mysql")
MARIADB = MySqlPlugin("io.debezium.connector.mariadb.MariaDbConnector", "mariadb")
