"""The SQL server as a service that needs Spark; see headwater/spark_services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headwater.sql.server.config import check
from headwater.sql.server.settings import SQL_SETTINGS

if TYPE_CHECKING:
    from headwater.config import Values
    from headwater.http.service_process import Service
    from headwater.spark_services.spark_service import ServiceContext


class SqlService:
    """Makes servers."""

    name = "sql"
    definitions = SQL_SETTINGS

    def check(self, settings: Values) -> None:
        """Refuse settings that do not go together; raises ConfigError."""
        check(settings)

    def build(self, context: ServiceContext) -> Service:
        """Return the server, not started."""
        from headwater.sql.server.instance import Instance

        return Instance(context)


SQL = SqlService()
