"""Connections to MariaDB or MySQL, and what their errors mean for a connector."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pymysql  # type: ignore[import-untyped]
from pymysql.cursors import Cursor  # type: ignore[import-untyped]

from headwater.connect.connectors.connector import ConnectorError, RetriableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from headwater.config import Values

# Errors that no waiting cures: wrong login, no right to do it, no such database or table.
_FOR_GOOD = frozenset({1044, 1045, 1049, 1142, 1143, 1146, 1227, 1370, 1698})
_LOG_IS_GONE = 1236


def connection_settings(config: Values) -> dict[str, Any]:
    """Return what PyMySQL needs to log in."""
    return {
        "host": config.text("database.hostname"),
        "port": config.integer("database.port"),
        "user": config.text("database.user"),
        "password": config.text("database.password") or "",
        "connect_timeout": max(1, config.integer("connect.timeout.ms") // 1000),
        "charset": "utf8mb4",
    }


class MySqlConnection:
    """A connection in UTC, for questions; the session's transaction is the caller's."""

    def __init__(self, settings: dict[str, Any], cursor: type[Cursor] = Cursor) -> None:
        with database_errors(f"connecting to {settings['host']}:{settings['port']}"):
            self._connection = pymysql.connect(**settings, cursorclass=cursor, autocommit=True)
            self.run("SET time_zone = '+00:00'")

    def rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query."""
        with database_errors("asking the database"), self._connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            return list(cursor.fetchall())

    def run(self, sql: str) -> None:
        """Run a statement."""
        self.rows(sql)

    def chunks(self, sql: str, size: int) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of a query as the database sends them, so many at a time."""
        with database_errors("reading rows"), self._connection.cursor() as cursor:
            cursor.execute(sql)
            while rows := cursor.fetchmany(size):
                yield list(rows)

    def variable(self, name: str) -> str | None:
        """Return a global setting of the server's; None if it knows no such setting."""
        found = self.rows("SHOW GLOBAL VARIABLES LIKE %s", (name,))
        return str(found[0][1]) if found else None

    def log_end(self) -> tuple[str, int]:
        """Return the binlog's file and position after the last change."""
        newer = not self.is_mariadb and self.version >= (8, 2)
        found = self.rows("SHOW BINARY LOG STATUS" if newer else "SHOW MASTER STATUS")
        if not found:
            raise ConnectorError("the server writes no binlog: start it with log_bin")
        return str(found[0][0]), int(found[0][1])

    @property
    def is_mariadb(self) -> bool:
        """Whether it is MariaDB."""
        return "mariadb" in self._connection.get_server_info().lower()

    @property
    def version(self) -> tuple[int, int]:
        """The server's version."""
        first, second = self._connection.get_server_info().split(".")[:2]
        return int(first), int(second)

    def close(self) -> None:
        """Close it; a query that was not read to its end is given up."""
        unread = self._connection._result  # noqa: SLF001 - which else would be read to its end
        if unread is not None:
            unread.unbuffered_active = False
        self._connection._force_close()  # noqa: SLF001


@contextmanager
def database_errors(doing: str) -> Iterator[None]:
    """Raise what fails in here as ConnectorError or RetriableError, in one line."""
    try:
        yield
    except (pymysql.Error, OSError) as failure:
        code = failure.args[0] if failure.args else None
        said = failure.args[-1] if failure.args else failure
        if code == _LOG_IS_GONE:
            raise ConnectorError(
                f"{doing}: {said}; the changes since the stored offset cannot be read any more: "
                "delete the connector's offsets for a new snapshot"
            ) from failure
        kind = ConnectorError if code in _FOR_GOOD else RetriableError
        raise kind(f"{doing}: {said}") from failure
