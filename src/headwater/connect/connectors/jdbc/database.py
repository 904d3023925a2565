"""A database as the driver's JVM sees it: its driver, a connection for questions, its tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headwater.connect.connectors.connector import ConnectorError
from headwater.connect.connectors.jdbc.dialects.known import dialect_of
from headwater.connect.connectors.jdbc.errors import database_errors
from headwater.connect.connectors.jdbc.table import Column, TableId
from headwater.java.artifacts import ArtifactError, fetch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from headwater.config import Values
    from headwater.connect.connectors.jdbc.dialects.dialect import Dialect


@dataclass(frozen=True)
class Access:
    """How to reach a database, as the properties of a connector say."""

    url: str
    user: str | None
    password: str | None
    dialect: Dialect

    @classmethod
    def of(cls, config: Values) -> Access:
        """Read it from a connector's properties; raises ConnectorError."""
        url = config.text("connection.url") or ""
        dialect = dialect_of(url, config.text("driver.coordinate"), config.text("driver.class"))
        return cls(url, config.text("connection.user"), config.text("connection.password"), dialect)

    @property
    def login(self) -> dict[str, str]:
        """The properties of a connection; what the URL says goes before."""
        named = {
            key: value for key, value in self.dialect.login.items() if f"{key}=" not in self.url
        }
        given = {"user": self.user, "password": self.password}
        return named | {key: value for key, value in given.items() if value is not None}


class Database:
    """A database. It is asked over one connection, which is opened again after an error."""

    def __init__(self, session: SparkSession, access: Access) -> None:
        self.dialect = access.dialect
        jvm: Any = session.sparkContext._jvm  # noqa: SLF001 - PySpark has no other door
        self._java_jdbc = jvm.io.headwater.jdbc
        self._where = access.url.partition("?")[0]
        self._add_driver(session)
        with database_errors(f"{self._where} cannot be reached"):
            self.java: Any = self._java_jdbc.Database(
                self.dialect.url(access.url),
                self.dialect.driver_class,
                access.login,
                list(self.dialect.preparations),
            )
        self._inquiry: Any = None

    def first_rows(self, queries: Sequence[str]) -> list[list[str | None] | None]:
        """Return the first row of each query, as texts."""
        found: list[list[str | None] | None] = json.loads(
            self._ask("firstRows", json.dumps(queries))
        )
        return found

    def rows(self, query: str) -> list[list[str | None]]:
        """Return all rows of a query, which are few, as texts."""
        found: list[list[str | None]] = json.loads(self._ask("rows", query))
        return found

    def execute(self, statements: Sequence[str]) -> None:
        """Run statements, each committed by itself."""
        self._ask("execute", list(statements))

    def tables(
        self, catalog: str | None, schema: str | None, types: Sequence[str], like: str = "%"
    ) -> list[TableId]:
        """Return the tables of these types, such as TABLE and VIEW; none given: of all."""
        found = json.loads(self._ask("tables", catalog, schema, like, list(types)))
        return [self.dialect.table_id(*parts) for parts in found]

    def columns(self, queries: Sequence[str]) -> list[tuple[Column, ...]]:
        """Return the columns of the results of queries."""
        found = json.loads(self._ask("columns", json.dumps(queries)))
        return [tuple(Column(**column) for column in columns) for columns in found]

    def close(self) -> None:
        """Close the connection."""
        inquiry, self._inquiry = self._inquiry, None
        if inquiry is not None:
            with database_errors(f"{self._where} was left"):
                inquiry.close()

    def _ask(self, method: str, *arguments: object) -> str:
        with database_errors(self._where):
            if self._inquiry is None:
                self._inquiry = self._java_jdbc.Inquiry(self.java)
            try:
                answer: str = getattr(self._inquiry, method)(*arguments)
            except Exception:
                # The next to ask gets a new connection: nobody knows what became of this one.
                inquiry, self._inquiry = self._inquiry, None
                inquiry.abandon()
                raise
            return answer

    def _add_driver(self, session: SparkSession) -> None:
        from headwater.spark.session import is_local

        try:
            jars = fetch("jdbc-driver", [self.dialect.coordinate], transitive=False)
        except ArtifactError as failure:
            raise ConnectorError(f"the driver of {self._where} cannot be had: {failure}") from None
        paths = [str(jar) for jar in jars]
        with database_errors(f"the driver {self.dialect.driver_class} cannot be loaded"):
            self._java_jdbc.Database.addDriver(self.dialect.driver_class, paths)
            if not is_local(session):
                for path in paths:
                    session.sparkContext._jsc.addJar(path)  # noqa: SLF001
